// SPDX-License-Identifier: Apache-2.0
// paths/run/program.hpp — main() of a program whose threads run a plan.
#pragma once
#include <functional>
#include <string>

#include "paths/config/config.hpp"
#include "paths/run/run_plan.hpp"

namespace CLI {
class App;
}

namespace paths {

/// Description of a program: the function of one thread, and its command-line options.
struct Program {
  std::string name;
  std::string help;
  std::function<void(Thread&)> thread;
  std::function<void(CLI::App&)> options = {};  ///< adds the program's options to its command line
  /// Runs after the options were read, before any thread starts.
  /// Throws: std::invalid_argument for a wrong combination of options.
  std::function<void(const Plan&, const RunOptions&)> prepare = {};
  std::function<void(const RunSummary&)> finish = {};  ///< runs after all threads have succeeded
};

/// Runs the main() of a program. Config, clock, host and overrides come from the command line or
/// from variables that `paths run` sets: PATHS_CONFIG, PATHS_CLOCK, PATHS_HOST, PATHS_ALGORITHM,
/// PATHS_ROOT, PATHS_INSTRUMENT, PATHS_TRACE, PATHS_PORT, PATHS_TRANSPORT, PATHS_STACK. The
/// variable PATHS_RUN_KEY, or the file of the option --run-key, has the key by which hosts of a run
/// recognise each other. The variable is removed from the environment.
///
/// Returns 0 for success, 1 if a thread failed or output could not be written, 2 for wrong usage or
/// config. May be called again after it has returned.
/// Throws: UsageError if the caller is inside a thread of a run.
int run_program(int argc, char** argv, const WrapperKinds& kinds, const Program& program);

}  // namespace paths
