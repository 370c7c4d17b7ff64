// SPDX-License-Identifier: Apache-2.0
// commands/verify_schedules.hpp — proves schedules of a group right, and says what was proved.
#pragma once
#include "commands/schedule_request.hpp"

namespace commands {

/// One algorithm for one collective, or all for all, for every root unless one is said; with the
/// vector cut down so that pieces have about an element. Prints what was verified. Whether all
/// hold. Throws: as read_request().
bool verify_schedules(const ScheduleOptions& options);

}  // namespace commands
