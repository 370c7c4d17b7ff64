// SPDX-License-Identifier: Apache-2.0
// paths/plan/emulated_switches.hpp — switches that emulate links of a cluster.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "paths/plan/plan.hpp"

namespace paths {

/// Returns whether messages of a cluster to other clusters pass a switch that emulates a link. If
/// the links of the switch take no time, there is nothing to emulate, and hosts send directly.
bool is_switch_emulated(const Plan& plan, std::uint32_t cluster);

/// Returns whether the route from the host `from` to the host `to` passes `place` or ends there.
/// `place` is the number of a host or switch.
/// Requires: there is a route.
bool way_leads_through(const Plan& plan, std::uint32_t from, std::uint32_t to, std::uint32_t place);

/// Returns the hosts and switches to which the host or switch `place` sends messages for any of
/// `hosts` directly. They are also those from which it receives messages of these hosts, except
/// that a host behind a switch may also receive messages from other clusters directly.
std::set<std::uint32_t> lane_neighbours(const Plan& plan, std::uint32_t place,
                                        const std::vector<std::uint32_t>& hosts);
/// Returns lane_neighbours() for all hosts of the plan.
std::set<std::uint32_t> lane_neighbours(const Plan& plan, std::uint32_t place);

/// Returns the address on which the switch of a cluster listens. The switch runs on the machine of
/// the cluster's exit, and its address is derived from the address of the exit. If the exit has a
/// Unix socket, the switch has a file of its own in the same folder. If the exit has a TCP address,
/// the switch has the same interface, and a port above the ports of all hosts.
/// Throws: std::invalid_argument if no port is left above the ports of all hosts.
std::string switch_address(const Plan& plan, std::uint32_t cluster);

/// Returns the text that names `place`, a host or a switch, in messages: "host alpha-0" or "the
/// switch of alpha".
std::string place_text(const Plan& plan, std::uint32_t place);

}  // namespace paths
