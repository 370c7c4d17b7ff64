// SPDX-License-Identifier: Apache-2.0
// commands/draw_schedule.hpp — a schedule as a tree or as steps, with what it moves.
#pragma once
#include <string>

#include "commands/schedule_request.hpp"

namespace commands {

/// The tree of those who talk to each other, if it is one, else the first steps of the first hosts;
/// messages and bytes by pair of clusters; and the longest way of data, by the latencies of the
/// config's links.
std::string draw_schedule(const ScheduleRequest& request);

}  // namespace commands
