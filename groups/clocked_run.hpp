// SPDX-License-Identifier: Apache-2.0
// groups/clocked_run.hpp — duration of work that all members of a group begin at the same instant.
#pragma once
#include <chrono>
#include <functional>

#include "base/units.hpp"
#include "groups/group.hpp"
#include "paths/host/thread.hpp"

namespace groups {

/// Returns the current time of the virtual clock or, in a run on the steady clock, the current UTC
/// of this machine.
base::Nanos common_clock(const paths::Thread& thread);

/// Blocks until common_clock() reaches `moment`, an instant on which the hosts have just agreed.
/// Throws: std::runtime_error if `moment` is more than a minute away. The clocks of the hosts then
///         differ, so times measured across hosts would be meaningless.
void sleep_until_common(paths::Thread& thread, base::Nanos moment);

/// Part of the time between the agreement on a common start and this start. It covers late messages
/// of the exchange in which the members agree.
inline constexpr base::Nanos spare_time_before_start = std::chrono::milliseconds(20);

/// Durations of one run_clocked().
struct ClockedRun {
  base::Nanos time{0};  ///< time from the last member's start to the end of the last member's work
  base::Nanos late{0};  ///< time from the agreed start to the last member's start
};

/// Agrees on an instant with the other members, and runs `work` at that instant on all of them. The
/// measured time contains `work` only, and no barrier. It begins with the last member's start. All
/// members get the same result.
///
/// `expected` is the expected duration of `work`; 0 = unknown. A member that ends earlier waits
/// until that long after the agreed start, before it tells the others when it ended. Its messages
/// then do not disturb members that still work.
///
/// Why: processes that share cores wake up one after another. The delay of a wake-up is no property
///   of `work`, so the time begins with the last start. A report of a trace counts the time in the
///   same way. If members that start early can work alone, the time is too short, by at most
///   `late`. The sum of both durations is never too short.
/// Blocks: until all members have ended their work, and until the expected end.
/// Throws: as sleep_until_common(), Group::run() and `work` do.
ClockedRun run_clocked(paths::Thread& thread, Group& group, const std::function<void()>& work,
                       base::Nanos expected = base::Nanos(0));

}  // namespace groups
