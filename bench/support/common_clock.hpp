// SPDX-License-Identifier: Apache-2.0
// bench/support/common_clock.hpp — the clock by which hosts of a run begin something together.
#pragma once
#include "base/units.hpp"
#include "paths/host/thread.hpp"

namespace bench {

/// The run's clock on the virtual one, otherwise UTC as this machine has it.
base::Nanos common_clock(const paths::Thread& thread);

/// Blocks until the common clock shows `moment`, which another host named just now. Throws
/// std::runtime_error when that moment is far away: then the hosts have no clock in common, and
/// times between them would mean nothing.
void sleep_until_common(paths::Thread& thread, base::Nanos moment);

}  // namespace bench
