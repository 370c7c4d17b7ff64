// SPDX-License-Identifier: Apache-2.0
// paths/run/program.hpp — runs a program of threads over a plan: command line, clock, hosts, end.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "paths/config/config.hpp"
#include "paths/host/thread.hpp"
#include "paths/run/tracing.hpp"
#include "runtime/runtime.hpp"

namespace CLI {
class App;
}

namespace paths {

/// What a finished run was, in this process.
struct RunSummary {
  const Plan& plan;
  runtime::ClockKind clock;
  std::uint64_t seed;
  double wall_seconds;
  std::vector<Host*> hosts;  ///< those of this process, ended
};

/// On which clock, and as which hosts, a plan runs in this process.
struct RunOptions {
  runtime::ClockKind clock = runtime::ClockKind::steady;
  std::uint64_t seed = 1;
  bool is_one_host = false;
  std::uint32_t host = 0;       ///< which, when it is one
  std::size_t stack_bytes = 0;  ///< of a thread; 0: as the plan says
  TraceOptions trace = {};
};

/// A program: one function of one thread, and what it wants of the command line.
struct Program {
  std::string name;
  std::string help;
  std::function<void(Thread&)> thread;
  std::function<void(CLI::App&)> options = {};  ///< adds its own options
  /// After the options were read, before any thread runs: throws std::invalid_argument for a
  /// wrong combination.
  std::function<void(const Plan&, const RunOptions&)> prepare = {};
  std::function<void(const RunSummary&)> finish = {};  ///< when all threads have ended well
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

/// The main() of a program. Which config, clock, host and overrides come from the command line or,
/// as `paths run` hands them on, from PATHS_CONFIG, PATHS_CLOCK, PATHS_HOST, PATHS_ALGORITHM,
/// PATHS_ROOT, PATHS_INSTRUMENT, PATHS_TRACE, PATHS_PORT, PATHS_TRANSPORT, PATHS_STACK. Returns 0,
/// 1 when a thread failed or what was printed could not be written, 2 for wrong usage or config.
/// May be called again when it has returned; throws UsageError inside a thread of a run.
int run_program(int argc, char** argv, const WrapperKinds& kinds, const Program& program);

}  // namespace paths
