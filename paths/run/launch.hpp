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
  /// Name of the host, for messages and as a prefix of output lines; "" = all hosts are in this
  /// process.
  std::string host;
  std::vector<std::string> command;  ///< file of the program, then its arguments
  /// Environment variables that the process gets in addition to those of the caller.
  std::vector<std::pair<std::string, std::string>> variables;
  /// Handed to the process in the variable PATHS_RUN_KEY; nullptr = none.
  std::shared_ptr<const RunKey> run_key = nullptr;
  /// Whether the process uses the standard input and output of the caller directly. Otherwise its
  /// lines are printed as "host| line" and it has no input.
  bool plain = false;
  bool is_host = true;  ///< if false, `host` is a text such as "the switch of alpha"
};

struct LaunchOptions {
  int out = 1, err = 2;  ///< descriptors for the processes' output
  /// Time after which launch() stops waiting, at its end, for a reader of `out` that reads nothing.
  /// After a failure or a signal the time is two seconds.
  base::Nanos reader_deadline = std::chrono::minutes(1);
  /// Whether it is an error if all host processes exit with 0 and none has run threads.
  bool must_join = false;
};

/// Starts all processes and returns when all have ended. Returns 0 if each exited with 0.
///
/// The first process that fails (another exit code, a signal, or 0 before its threads ended) stops
/// the others. They get SIGTERM, then SIGKILL after two seconds; only processes started here are
/// affected. A message on `options.err` tells which process failed, and how. The result is then 2
/// if that process exited with 2 (wrong usage or config), otherwise 1. SIGINT, SIGTERM and SIGHUP
/// to the calling process stop all processes in the same way; a second signal kills them. Each of
/// these signals also ends the wait for a reader of the output. All processes die with the calling
/// thread.
///
/// Throws: std::system_error if the system refuses a process or a descriptor.
int launch(const std::vector<Launch>& processes, const LaunchOptions& options = {});

/// State of this process's threads. A process that launch() has started reports this state to
/// launch(). Without the report, a program that exits with 0 while its threads run would look
/// successful.
enum class ThreadsState : char {
  running = 'r',
  ended = 'e',
  not_needed = 'n',  ///< the program only printed its help or its version
};
void notify_launcher(ThreadsState state);

}  // namespace paths
