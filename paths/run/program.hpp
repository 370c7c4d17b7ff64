// SPDX-License-Identifier: Apache-2.0
// paths/run/program.hpp — the main() of a program of threads over a plan, with its command line.
#pragma once
#include <functional>
#include <string>

#include "paths/config/config.hpp"
#include "paths/run/run_plan.hpp"

namespace CLI {
class App;
}

namespace paths {

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

/// The main() of a program. Which config, clock, host and overrides come from the command line or,
/// as `paths run` hands them on, from PATHS_CONFIG, PATHS_CLOCK, PATHS_HOST, PATHS_ALGORITHM,
/// PATHS_ROOT, PATHS_INSTRUMENT, PATHS_TRACE, PATHS_PORT, PATHS_TRANSPORT, PATHS_STACK; which
/// run it belongs to from PATHS_RUN: hosts of different runs refuse each other. Returns 0, 1 when a
/// thread failed or what was printed could not be written, 2 for wrong usage or config. May be
/// called again when it has returned; throws UsageError inside a thread of a run.
int run_program(int argc, char** argv, const WrapperKinds& kinds, const Program& program);

}  // namespace paths
