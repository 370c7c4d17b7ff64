// SPDX-License-Identifier: Apache-2.0
// paths/plan/emulated_switches.hpp — switches of clusters that links are emulated for, and where
// they are when hosts are processes.
#pragma once
#include <cstdint>
#include <string>

#include "paths/plan/plan.hpp"

namespace paths {

/// Whether what hosts of a cluster send to another one passes a switch in which a link is emulated.
/// Of a link that takes no time there is nothing to emulate: hosts talk directly.
bool is_switch_emulated(const Plan& plan, std::uint32_t cluster);

/// Whether the way from a host to another one, there being one, leads to or through that place, a
/// host or a switch by its number.
bool way_leads_through(const Plan& plan, std::uint32_t from, std::uint32_t to, std::uint32_t place);

/// The machine that the switch of a cluster is on is that of the cluster's exit, its first host.
std::uint32_t host_beside_switch(const Plan& plan, std::uint32_t cluster);

/// Where it listens: beside that host, of Unix sockets in the same folder; else at the same
/// interface, at a port beyond those of all hosts. Throws std::invalid_argument when there is none.
std::string switch_address(const Plan& plan, std::uint32_t cluster);

/// "host alpha-0", "the switch of alpha": for messages.
std::string place_text(const Plan& plan, std::uint32_t place);

}  // namespace paths
