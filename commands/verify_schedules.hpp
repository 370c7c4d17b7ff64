// SPDX-License-Identifier: Apache-2.0
// commands/verify_schedules.hpp — verification of the schedules of a group or a config.
#pragma once
#include <string>
#include <vector>

#include "commands/schedule_request.hpp"
#include "paths/plan/plan.hpp"

namespace commands {

/// Verifies one algorithm for one collective, or all algorithms for all collectives. Verifies the
/// schedules for every root, unless `options` name a root. Vectors are shortened so that each piece
/// of a vector has about one element. Prints a summary. Returns whether all schedules are correct.
/// Throws: the exceptions of read_request().
bool verify_schedules(const ScheduleOptions& options);

/// Verifies the schedules that collectives of a config name, with shortened vectors. Returns a
/// message for each incorrect schedule. Groups of more than 128 hosts are skipped.
std::vector<std::string> wrong_schedules(const paths::Plan& plan);

}  // namespace commands
