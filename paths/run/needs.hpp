// SPDX-License-Identifier: Apache-2.0
// paths/run/needs.hpp — refuses what this machine cannot run, before it is tried.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "paths/plan/plan.hpp"
#include "paths/run/run_plan.hpp"
#include "runtime/processes/machine.hpp"

namespace paths {

/// Each throws std::invalid_argument, with what is needed and what there is, when even the least
/// that is needed is more than the machine has: what passes may still turn out to be too large.

/// `what` is a sentence's beginning: "a grid of 1000 x 1000 cells".
void check_memory(std::uint64_t bytes, const std::string& what,
                  const runtime::Machine& machine = runtime::machine());
/// The threads of the plan that run in this process.
void check_needs(const Plan& plan, const RunOptions& options,
                 const runtime::Machine& machine = runtime::machine());
/// Those hosts of the plan as processes of this machine.
void check_needs(const Plan& plan, const std::vector<std::uint32_t>& hosts,
                 const runtime::Machine& machine = runtime::machine());

}  // namespace paths
