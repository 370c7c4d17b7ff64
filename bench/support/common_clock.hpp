// SPDX-License-Identifier: Apache-2.0
// bench/support/common_clock.hpp — clock for a simultaneous start on several hosts
#pragma once
#include "base/units.hpp"
#include "paths/host/thread.hpp"

namespace bench {

/// Returns the time of the virtual clock, or UTC of this machine.
base::Nanos common_clock(const paths::Thread& thread);

/// Blocks until the common clock shows `moment`, which another host has just chosen. Throws
/// std::runtime_error if `moment` is more than a minute away. The clocks of the hosts then differ,
/// so times measured across hosts would be meaningless.
void sleep_until_common(paths::Thread& thread, base::Nanos moment);

}  // namespace bench
