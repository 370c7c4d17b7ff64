// SPDX-License-Identifier: Apache-2.0
// paths/plan/emulated_switches.hpp — switches that emulate links of a cluster.
#pragma once
#include <cstdint>
#include <string>

#include "paths/plan/plan.hpp"

namespace paths {

/// Returns whether messages of a cluster to other clusters pass a switch that emulates a link. A
/// link that takes no time needs no emulation: hosts then send directly.
bool is_switch_emulated(const Plan& plan, std::uint32_t cluster);

/// Returns whether the route from a host to another one passes or ends at `place`. `place` is the
/// number of a host or switch.
/// Requires: there is a route.
bool way_leads_through(const Plan& plan, std::uint32_t from, std::uint32_t to, std::uint32_t place);

/// Returns the address on which the switch of a cluster listens. The switch runs on the machine of
/// the cluster's exit, and its address is derived from the address of the exit. For Unix sockets it
/// is another file in the same folder. For TCP it is the same interface, with a port above the
/// ports of all hosts. Throws: std::invalid_argument if no port is left above the hosts' ports.
std::string switch_address(const Plan& plan, std::uint32_t cluster);

/// Returns the text that names `place`, a host or a switch, in messages: "host alpha-0" or "the
/// switch of alpha".
std::string place_text(const Plan& plan, std::uint32_t place);

}  // namespace paths
