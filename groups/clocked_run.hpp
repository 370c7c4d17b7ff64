// SPDX-License-Identifier: Apache-2.0
// groups/clocked_run.hpp — duration of work that all members of a group begin at the same instant.
#pragma once
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

/// Durations of one run_clocked().
struct ClockedRun {
  base::Nanos time{0};  ///< time from the agreed start to the end of the last member's work
  base::Nanos late{0};  ///< time from the agreed start to the actual start of the last member
};

/// Agrees on an instant with the other members, and runs `work` at that instant on all of them. The
/// measured time contains `work` only, and no barrier. All members get the same result.
/// Blocks: until all members have ended their work.
/// Throws: as sleep_until_common(), Group::run() and `work` do.
ClockedRun run_clocked(paths::Thread& thread, Group& group, const std::function<void()>& work);

}  // namespace groups
