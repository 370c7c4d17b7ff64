// SPDX-License-Identifier: Apache-2.0
// paths/run/needs.hpp — rejection of runs that need more resources than this machine has.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "paths/plan/plan.hpp"
#include "paths/run/run_plan.hpp"
#include "runtime/processes/machine.hpp"

namespace paths {

/// The functions of this file compare a lower bound of the resources that a run needs with the
/// resources of the machine. A run that passes the check may still be too large.
/// Throws: std::invalid_argument, with the needed and the available amount.

/// Checks that the machine has `bytes` of memory. `what` is the subject of the error message, such
/// as "a grid of 1000 x 1000 cells".
void check_memory(std::uint64_t bytes, const std::string& what,
                  const runtime::Machine& machine = runtime::machine());
/// Checks that the machine has enough memory and OS threads for the threads of the plan in this
/// process.
void check_needs(const Plan& plan, const RunOptions& options,
                 const runtime::Machine& machine = runtime::machine());
/// Checks that the machine has enough memory, OS threads and descriptors to run each of `hosts` as
/// a process.
void check_needs(const Plan& plan, const std::vector<std::uint32_t>& hosts,
                 const runtime::Machine& machine = runtime::machine());

}  // namespace paths
