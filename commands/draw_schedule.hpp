// SPDX-License-Identifier: Apache-2.0
// commands/draw_schedule.hpp — drawing of a schedule as a tree or as steps, with its traffic.
#pragma once
#include <string>

#include "commands/schedule_request.hpp"

namespace commands {

/// Returns the drawing of a schedule:
/// - the tree of hosts that exchange messages; if they form no tree, the first steps of the hosts
///   with the lowest ranks;
/// - messages and bytes by pair of clusters;
/// - the longest chain of dependent messages, by the latencies of the config's links.
std::string draw_schedule(const ScheduleRequest& request);

}  // namespace commands
