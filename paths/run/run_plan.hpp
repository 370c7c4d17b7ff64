// SPDX-License-Identifier: Apache-2.0
// paths/run/run_plan.hpp — runs every thread of a plan that is in this process.
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

/// What a finished run was, in this process.
struct RunSummary {
  const Plan& plan;
  runtime::ClockKind clock;
  std::uint64_t seed;
  double wall_seconds;
  std::uint64_t events;      ///< of the virtual clock, else 0: how often contexts went on
  std::vector<Host*> hosts;  ///< those of this process, ended
};

/// Runs every thread of one host, or of all hosts of the plan, in this process: over sockets when
/// it is one host of several, else within the process. Answers each failed
/// thread's message, and what of a trace could not be written; none when all went well. Throws
/// Deadlock, TravelError (cannot listen), std::runtime_error (cannot write a trace there) and
/// UsageError (inside a thread of another run). While it runs, exit() anywhere in the process says
/// so and ends it with the code 1.
std::vector<std::string> run_plan(std::shared_ptr<const Plan> plan, const WrapperKinds& kinds,
                                  const RunOptions& options,
                                  const std::function<void(Thread&)>& thread,
                                  const std::function<void(const RunSummary&)>& finish = {});

}  // namespace paths
