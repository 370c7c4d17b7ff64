// SPDX-License-Identifier: Apache-2.0
// runtime/polling/polling.hpp — decision how long an OS thread polls before it sleeps
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/polling/moment.hpp"
#include "runtime/polling/poller.hpp"
#include "runtime/wait.hpp"

namespace runtime {

/// A sleep with its wake-up costs tens of microseconds if the core halts during the sleep. A
/// polling thread notices a change in less than one microsecond, but takes a core from threads that
/// compute. All types in this file are private to runtime/ and thread-safe.

/// Record of how often polling has shortened the waits with the same Reason.
///
/// Why: threads that wait with the same Reason wait for the same event, so one record serves them
///   all.
class SpinHistory {
 public:
  /// Returns the history that all waits with the same reason share.
  static SpinHistory& of(const Reason& reason);
  /// Whether the next wait must sleep immediately. If so, the call counts this wait as skipped.
  bool skips();
  void note_hit();  ///< records that polling has shortened a wait
  /// Records that polling did not shorten a wait. After two misses in a row, each of `threads`
  /// threads skips polling at its next 4 waits. Each further miss doubles the number of skipped
  /// waits, up to 64.
  void note_miss(int threads);

 private:
  // Concurrent updates may lose counts, which does no harm.
  std::atomic<std::uint32_t> misses_{0};
  std::atomic<std::uint32_t> skip_next_{0};
  std::atomic<std::uint32_t> left_{0};
};

/// Detects whether other programs use our cores. If they do, threads should not yield, because a
/// yield gives such a program a whole time slice.
class CoreContention {
 public:
  /// A yield that lasts this long shows that another program uses the core.
  static constexpr Nanos long_yield{1'000'000};
  /// After a yield of at least `long_yield`, threads do not yield for the span `first_rest`. If the
  /// next yield is long again, the span doubles, up to `longest_rest`.
  static constexpr Nanos first_rest{5'000'000};
  static constexpr Nanos longest_rest{160'000'000};

  /// A yield that lasts longer than `empty_yield` has run another thread.
  explicit CoreContention(Nanos empty_yield) : empty_yield_(empty_yield) {}
  Nanos empty_yield() const { return empty_yield_; }
  /// Returns a value for `empty_yield`: twice the shortest of several yields, but at least 1 us and
  /// at most 5 us. On some virtual machines even an empty yield takes more than 1 us.
  static Nanos measure_empty_yield();
  bool may_yield(Nanos now) const { return now.count() >= rest_until_.load(relaxed); }
  void note_yield(Nanos began, Nanos ended);
  /// Whether the last yield ran another thread. If true, a thread that polls without yielding may
  /// keep the core from the very thread for which it waits.
  bool share_our_cores() const { return share_our_cores_.load(relaxed); }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;
  const Nanos empty_yield_;
  std::atomic<Nanos::rep> rest_until_{0};
  std::atomic<Nanos::rep> rest_{0};
  std::atomic<bool> share_our_cores_{false};
};

class Context;

/// The pollers of a runtime, which its threads poll while they wait.
class Pollers {
 public:
  /// Adds a poller. Threads poll only the first Looking::most pollers. The messages of further
  /// pollers arrive by wake-ups.
  void add(Poller& poller);
  /// Removes a poller, and waits until no thread polls it.
  void remove(Poller& poller);

  /// Registers one thread as polling, while this object exists. The thread calls the pollers
  /// outside of any context (OS thread or fiber that a run has started).
  class Looking {
   public:
    explicit Looking(Pollers* pollers);
    ~Looking();
    Looking(const Looking&) = delete;
    Looking& operator=(const Looking&) = delete;
    bool poll();  ///< returns whether a message has arrived
    bool at_any() const { return count_ > 0; }

   private:
    static constexpr std::size_t most = 8;
    friend class Pollers;
    template <class Act>
    void at_each(Act act);
    std::size_t count_ = 0;
    struct LookedAt {
      Poller* poller;
      std::atomic<int>* lookers;
    };
    std::array<LookedAt, most> looked_at_;
  };

 private:
  struct Place {
    std::atomic<Poller*> poller{nullptr};
    std::atomic<int> lookers{0};
  };
  std::array<Place, Looking::most> places_;
  std::atomic<std::size_t> used_{0};  // number of entries that were ever in use
};

/// Whether a thread may poll before it sleeps, and the pollers that it then polls.
struct Looks {
  bool may = false;
  Pollers* pollers = nullptr;
  /// Context of the thread, with the registration of its BusyPollScope.
  Context* context = nullptr;
  /// Number of processes that wait for each other with the polled value; 0 = only threads of this
  /// process change the value.
  int processes = 0;
};

/// Polls until `value` differs from `seen`, but at most until the time `until` (steady clock), and
/// only as long as polling probably costs less than a sleep. Returns whether `value` has changed.
bool poll(const std::atomic<std::uint32_t>& value, std::uint32_t seen, Nanos until,
          SpinHistory& history, const Looks& looks = {});

/// Counts the OS threads of this process that the runtime knows, and how many of them are awake.
class KnownThreads {
 public:
  static void add() { known_.fetch_add(1, relaxed); }
  static void remove() { known_.fetch_sub(1, relaxed); }
  static void fall_asleep() { asleep_.fetch_add(1, relaxed); }
  static void wake() { asleep_.fetch_sub(1, relaxed); }
  static int count() { return known_.load(relaxed); }
  static int awake() { return known_.load(relaxed) - asleep_.load(relaxed); }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;
  static std::atomic<int> known_, asleep_;
};

}  // namespace runtime
