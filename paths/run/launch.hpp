// SPDX-License-Identifier: Apache-2.0
// paths/run/launch.hpp — start, supervision and termination of a run's processes as a group.
#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "paths/keys/run_key.hpp"

namespace paths {

/// One process to start.
struct Launch {
  /// Name of the host that the process runs, for messages and as a prefix of output lines; "" = the
  /// process runs all hosts.
  std::string host;
  std::vector<std::string> command;  ///< file of the program, then its arguments
  /// Environment variables of the process, in addition to the caller's environment.
  std::vector<std::pair<std::string, std::string>> variables;
  /// Key of the run, which the process gets in the variable PATHS_RUN_KEY; nullptr = no key.
  std::shared_ptr<const RunKey> run_key = nullptr;
  /// Whether the process uses the standard input and output of the caller directly. Otherwise its
  /// output lines are printed as "host| line", and its input is empty.
  bool plain = false;
  bool is_host = true;  ///< if false, `host` is a description, such as "the switch of alpha"
  /// Whether the process gets a process group of its own. All processes of the group end with it.
  bool has_own_group = false;
};

struct LaunchOptions {
  int out = 1, err = 2;  ///< descriptors for the processes' output
  /// When all processes have ended, launch() delivers the rest of their output. If the reader of
  /// the output reads nothing for this duration, launch() stops waiting, and the rest of the output
  /// is lost. After a failure or a signal, launch() waits for two seconds only.
  base::Nanos reader_deadline = std::chrono::minutes(1);
  /// If true, launch() fails if all host processes exit with 0 and none of them has run threads.
  bool must_join = false;
  /// Programs that run next to the processes, as a load of the machine. They start first. When one
  /// of them exits with 0, launch() starts it again. They are stopped like other processes when all
  /// other processes have ended. `Launch::host` names the host that the program runs next to. Only
  /// its standard error is printed. All processes of a companion's group end with it.
  /// Requires: Launch::has_own_group; not Launch::plain.
  std::vector<Launch> companions = {};
};

/// Starts all processes and returns when all have ended. Returns 0 if each process exited with code
/// 0.
///
/// A process fails if it exits with a code other than 0, is killed by a signal, or exits with 0
/// before its threads have ended. A companion also fails if it exits with 0 within a second. The
/// first failure stops the other processes that launch() has started: they get SIGTERM, then
/// SIGKILL after two seconds. A message on `options.err` tells which process failed, and how. The
/// result is then 2 if that process exited with 2 (wrong usage or config), otherwise 1. SIGINT,
/// SIGTERM and SIGHUP to the calling process stop all processes in the same way. A second signal
/// kills all processes. Each of these signals also ends the wait for a reader of the output. If the
/// calling thread ends, the kernel kills all processes.
///
/// Throws: std::system_error if the system refuses a process or a descriptor.
int launch(const std::vector<Launch>& processes, const LaunchOptions& options = {});

}  // namespace paths
