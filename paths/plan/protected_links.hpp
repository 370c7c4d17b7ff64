// SPDX-License-Identifier: Apache-2.0
// paths/plan/protected_links.hpp — addresses of connections over links with `security: network`
#pragma once
#include <string>
#include <vector>

#include "paths/plan/plan.hpp"

namespace paths {

/// Returns the address on which each host listens for connections over protected links, and after
/// the last host the address of the switch of each cluster. An address is "" if the host or switch
/// has no protected link, or if the switch is not emulated. The result is empty if the plan
/// encrypts nothing or has no protected links.
///
/// An address has the interface of the address for encrypted connections. Its port is higher by the
/// same number for all hosts and switches: by the distance from the lowest port of the plan to the
/// first port above all ports. So no two addresses are equal. If all hosts have the same port and
/// no switch is emulated, the number is 1.
/// Why: a listener of ZeroMQ accepts either encrypted connections or others.
/// Throws: std::invalid_argument if a port would be higher than 65535.
std::vector<std::string> protected_addresses(const Plan& plan);

}  // namespace paths
