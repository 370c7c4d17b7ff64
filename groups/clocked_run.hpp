// SPDX-License-Identifier: Apache-2.0
// groups/clocked_run.hpp — times of work that all members of a group begin at the same moment.
#pragma once
#include <functional>

#include "base/units.hpp"
#include "groups/group.hpp"
#include "paths/host/thread.hpp"

namespace groups {

/// Returns the time of the virtual clock, or UTC of this machine.
base::Nanos common_clock(const paths::Thread& thread);

/// Blocks until the common clock shows `moment`, which another host has just chosen.
/// Throws: std::runtime_error if `moment` is more than a minute away. The clocks of the hosts then
///         differ, so times measured across hosts would be meaningless.
void sleep_until_common(paths::Thread& thread, base::Nanos moment);

/// The time of a piece of work of all members.
struct ClockedRun {
  base::Nanos time{0};  ///< from the common start until the last member has ended
  base::Nanos late{0};  ///< how long after the common start the last member has begun
};

/// Lets all members do `work` from a common start, which they agree on. Nothing else, such as a
/// barrier, is a part of the time. All members get the same result.
/// Blocks: until all members have ended.
/// Throws: as sleep_until_common(), Group::run() and `work` do.
ClockedRun run_clocked(paths::Thread& thread, Group& group, const std::function<void()>& work);

}  // namespace groups
