// SPDX-License-Identifier: Apache-2.0
// paths/plan/machines.hpp — numbers of the machines of a plan's hosts, from the hosts' addresses.
#pragma once
#include <cstdint>
#include <vector>

#include "paths/plan/plan.hpp"

namespace paths {

/// Returns the number of the machine of each host. Machines are numbered in the order of their
/// first hosts. A host whose address names no machine is on a machine of its own.
std::vector<std::uint32_t> machines_of(const Plan& plan);

}  // namespace paths
