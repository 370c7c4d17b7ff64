// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/polling.hpp — how long an OS thread looks for its wake-up before it sleeps.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/scheduler/moment.hpp"
#include "runtime/scheduler/poller.hpp"
#include "runtime/wait.hpp"

namespace runtime {

/// Private to runtime/, all of it. A sleep and its wake cost tens of microseconds where the core
/// halts in between, looking costs less than one; but who looks takes a core from who computes.
///
/// Sharing: any thread may call anything at any time.

/// What the waits of one place in the code, for one thing, have taught.
///
/// Why:  the threads that wait there wait for the same; what one learns spares the others.
class SpinHistory {
 public:
  /// Those that say alike what they wait for share one.
  static SpinHistory& of(const Reason& reason);
  /// Is the next wait to sleep at once? Counts it if so.
  bool skips();
  void note_hit();  ///< looking has shortened a wait
  /// It has not. After two in a row the next 4 waits of each of so many threads skip it, and twice
  /// as many each further time, up to 64.
  void note_miss(int threads);

 private:
  // Counts that get lost between threads do no harm.
  std::atomic<std::uint32_t> misses_{0};
  std::atomic<std::uint32_t> skip_next_{0};
  std::atomic<std::uint32_t> left_{0};
};

/// Whether somebody computes on our cores whom a yield would give a whole time slice.
class CoreContention {
 public:
  /// A yield that took so long shows one.
  static constexpr Nanos long_yield{1'000'000};
  /// Nobody yields for 5 ms after one was seen, twice as long each time he is seen again.
  static constexpr Nanos first_rest{5'000'000};
  static constexpr Nanos longest_rest{160'000'000};

  bool may_yield(Nanos now) const { return now.count() >= rest_until_.load(relaxed); }
  void note_yield(Nanos began, Nanos ended);
  /// The last yield let somebody else have the core: who looks without one keeps him from it, and
  /// may be waiting for him.
  bool share_our_cores() const { return share_our_cores_.load(relaxed); }
  /// One to nobody takes less.
  static constexpr Nanos empty_yield{1'000};

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;
  std::atomic<Nanos::rep> rest_until_{0};
  std::atomic<Nanos::rep> rest_{0};
  std::atomic<bool> share_our_cores_{false};
};

class Context;

/// The pollers of a runtime, at which its threads look while they wait.
class Pollers {
 public:
  /// One too many is looked at by nobody, and works all the same.
  void add(Poller& poller);
  /// Nobody looks at it any more from here on: waits for those who do.
  void remove(Poller& poller);

  /// One thread looks while this lives; it is in no context when it does.
  class Looking {
   public:
    explicit Looking(Pollers* pollers);
    ~Looking();
    Looking(const Looking&) = delete;
    Looking& operator=(const Looking&) = delete;
    bool poll();  ///< whether anything has come
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
  std::atomic<std::size_t> used_{0};  // no further place ever had one
};

/// Whether a thread may look before it sleeps, and at what besides.
struct Looks {
  bool may = false;
  Pollers* pollers = nullptr;
  Context* context =
      nullptr;  ///< of the thread, which may be attentive (runtime/scheduler/busy_poll_scope.hpp)
};

/// Looks whether `value` is still `seen`, for as long as that promises to be shorter than a sleep;
/// says whether it has changed. Not beyond `until`, on the steady clock.
bool poll(const std::atomic<std::uint32_t>& value, std::uint32_t seen, Nanos until,
          SpinHistory& history, const Looks& looks = {});

/// OS threads of this process that the runtime knows, and those of them that do not sleep.
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
