// SPDX-License-Identifier: Apache-2.0
// runtime/wait.hpp — the one way to block: a list of waiters guarded by a mutex.
#pragma once
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "base/units.hpp"

namespace runtime {

using base::Nanos;

/// Guards state for a few instructions; never held while blocking (WaitList::wait lets it go).
using Mutex = std::mutex;
using Lock = std::unique_lock<std::mutex>;

class Context;

/// Until when a wait may last, on the runtime's clock.
///
/// A deadline that a person wrote in the config is an event like any other. A default one is only
/// a safety net: on the virtual clock, where nothing is ever late by accident, it does not exist,
/// and what it would have caught is reported as a deadlock instead.
struct Deadline {
  Nanos at = Nanos::max();
  bool written = false;
  static Deadline never() { return {}; }
  static Deadline written_at(Nanos at) { return {at, true}; }
  static Deadline default_at(Nanos at) { return {at, false}; }
};

/// Who waits for what, for the deadlock report: {"contributions of round", "sum.alpha-0", 17}.
/// The views must outlive the wait.
struct Reason {
  std::string_view what;
  std::string_view subject = {};
  std::uint64_t number = 0;
};

enum class Woken : std::uint8_t { notified, expired };

/// The present or next wait of a context that was told to stop. Nobody but the owner of the
/// context's work catches it.
class Cancelled : public std::runtime_error {
 public:
  Cancelled() : std::runtime_error("cancelled") {}
  using std::runtime_error::runtime_error;
};

/// On the virtual clock: a state in which nobody can ever wake; what() lists who waits for what.
class Deadlock : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Wake-ups decided under a mutex and carried out after it is unlocked: declare it before the
/// Lock, so that it is destroyed after it.
///
/// Why:   waking under the mutex makes the woken run into it; between OS threads that costs
///        milliseconds once there are more threads than cores.
/// Order: service contexts first, whose replies leave for other hosts, and threads of the
///        application only when those had their turn (Bongo et al. 2004, §VI-A: a local thread
///        woken first delayed the last reply by up to 30 ms).
class Wakes {
 public:
  Wakes() = default;
  ~Wakes();
  Wakes(const Wakes&) = delete;
  Wakes& operator=(const Wakes&) = delete;
  bool empty() const { return services_.empty() && threads_.empty(); }

 private:
  friend class WaitList;
  std::vector<Context*> services_;
  std::vector<Context*> threads_;
};

/// Blocked contexts, first come first served. Guarded by a mutex of its owner, who passes the
/// held lock to wait() and holds it in every other call.
class WaitList {
 public:
  WaitList() = default;
  ~WaitList();
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;

  /// Lets `lock` go, blocks until woken or the deadline has passed, holds `lock` again.
  /// Never returns `notified` unless some wake_* took this waiter off the list.
  /// Throws what the context was cancelled with (lock held, waiter off the list).
  Woken wait(Lock& lock, Deadline deadline, const Reason& reason);

  void wake_one(Wakes& wakes);  ///< the longest waiting one, if any
  void wake_all(Wakes& wakes);
  bool empty() const { return first_ == nullptr; }

  /// A waiter's place in line; only wait() makes one, on the stack of the blocked context.
  struct Place;

 private:
  Place* take_first();
  void remove(Place& place);
  Place* first_ = nullptr;
  Place* last_ = nullptr;
};

}  // namespace runtime
