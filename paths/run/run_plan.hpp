// SPDX-License-Identifier: Apache-2.0
// paths/run/run_plan.hpp — execution of every thread of a plan in this process.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "paths/host/thread.hpp"
#include "paths/plan/plan.hpp"
#include "paths/run/run_options.hpp"
#include "paths/wrapper_kind.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Outcome of a finished run in this process.
struct RunSummary {
  const Plan& plan;
  runtime::ClockKind clock;
  std::uint64_t seed;
  double wall_seconds;
  std::uint64_t events;      ///< times that a fiber was resumed; 0 on the steady clock
  std::vector<Host*> hosts;  ///< hosts of this process, which have all ended
};

/// Runs every thread of one host, or of all hosts of the plan, in this process. If only one of
/// several hosts runs here, this host communicates with the other hosts over sockets. If all hosts
/// run here, messages stay within the process. Returns the message of each failed thread and of
/// each incomplete trace; empty if there are none. During the run, a call of exit() anywhere in the
/// process prints an error and ends the process with code 1.
/// Throws: Deadlock. TravelError if a host cannot listen. std::runtime_error if a trace cannot be
///         written. UsageError if the caller is inside a thread of a run.
std::vector<std::string> run_plan(std::shared_ptr<const Plan> plan, const WrapperKinds& kinds,
                                  const RunOptions& options,
                                  const std::function<void(Thread&)>& thread,
                                  const std::function<void(const RunSummary&)>& finish = {});

}  // namespace paths
