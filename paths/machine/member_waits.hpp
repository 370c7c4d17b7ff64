// SPDX-License-Identifier: Apache-2.0
// paths/machine/member_waits.hpp — waits of a member for other members, and wake-ups of these.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "paths/machine/shared_region.hpp"

namespace paths {

/// Sleep and wake-up of the members of a region. A member polls first, and sleeps only if the
/// awaited event does not happen while the member polls.
///
/// Thread-safe: wake(). Only one OS thread or fiber at a time may call sleep().
class Alarm {
 public:
  virtual ~Alarm() = default;
  /// Blocks until another member calls wake() for this member. Returns immediately if wake() was
  /// called after the last return of sleep(). May also return without a call of wake(). `late`
  /// returns the members for which this member waits. `is_again` is true if an earlier call of
  /// sleep() belongs to the same wait.
  /// Throws: an exception if the operation has failed. After the exception, the region must not be
  ///         used.
  virtual void sleep(const std::function<std::vector<std::uint32_t>()>& late, bool is_again) = 0;
  virtual void wake(std::uint32_t member) = 0;
  /// Called after each wait.
  /// Throws: an exception if this member must no longer use the arrays of the operation.
  virtual void check() = 0;
};

/// Waits of one member, and wake-ups of the members that wait for this member.
///
/// Members poll, then yield the processor, and sleep only after that (runtime/wait.hpp), because a
/// sleep takes longer than an operation.
///
/// Owns:        nothing; borrows the region and the alarm.
/// Thread-safe: no; one OS thread or fiber at a time.
/// Throws:      the exceptions of the alarm.
class MemberWaits {
 public:
  MemberWaits(const SharedRegion& region, std::uint32_t me, Alarm& alarm)
      : region_(region), me_(me), alarm_(alarm) {}

  /// Blocks until `done()` returns true. The result of `done` must change only after a change of
  /// `word`. `late(member)` returns whether this member waits for `member`.
  template <class Done, class Late>
  void until(const std::atomic<std::uint32_t>& word, const Done& done, const Late& late) {
    for (bool is_again = false;;) {
      const std::uint32_t seen = word.load(std::memory_order_acquire);
      if (done()) return alarm_.check();
      if (has_changed_soon(word, seen)) continue;
      // This member sets its bit and then reads the word. The other member changes the word and
      // then reads the bit. Therefore either the other member sees the bit and wakes this member,
      // or this member sees the changed word.
      region_.sleepers().fetch_or(mine(), std::memory_order_seq_cst);
      if (!done()) sleep_for_others(done, late, std::exchange(is_again, true));
      region_.sleepers().fetch_and(~mine(), std::memory_order_relaxed);
    }
  }
  /// Wakes all members that sleep. Before the call, the caller must change the word for which these
  /// members wait.
  void wake_sleepers();
  /// If the operation with the number `turn`, or an earlier operation, has failed, blocks until the
  /// alarm throws.
  void await_failure(std::uint64_t turn);

 private:
  bool has_changed_soon(const std::atomic<std::uint32_t>& word, std::uint32_t seen) const;
  std::uint64_t mine() const { return std::uint64_t{1} << me_; }
  template <class Done, class Late>
  void sleep_for_others(const Done& done, const Late& late, bool is_again) {
    const auto late_members = [&] {
      std::vector<std::uint32_t> members;
      for (std::uint32_t member = 0; member < region_.members(); ++member)
        if (member != me_ && late(member)) members.push_back(member);
      return members;
    };
    try {
      alarm_.sleep(late_members, is_again);
    } catch (...) {  // the failure has no effect if the awaited event has happened
      if (!done()) throw;
    }
  }

  const SharedRegion& region_;
  const std::uint32_t me_;
  Alarm& alarm_;
};

}  // namespace paths
