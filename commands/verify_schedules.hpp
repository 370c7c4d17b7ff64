// SPDX-License-Identifier: Apache-2.0
// commands/verify_schedules.hpp — proves schedules of a group right, and says what was proved.
#pragma once
#include <string>
#include <vector>

#include "commands/schedule_request.hpp"
#include "paths/plan/plan.hpp"

namespace commands {

/// One algorithm for one collective, or all for all, for every root unless one is said; with the
/// vector cut down so that pieces have about an element. Prints what was verified. Whether all
/// hold. Throws: as read_request().
bool verify_schedules(const ScheduleOptions& options);

/// The schedules that collectives of a config name, with vectors cut down likewise: what is wrong
/// with each that does not hold. Those of more than 128 hosts are taken at their word.
std::vector<std::string> wrong_schedules(const paths::Plan& plan);

}  // namespace commands
