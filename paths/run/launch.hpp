// SPDX-License-Identifier: Apache-2.0
// paths/run/launch.hpp — processes that belong together: started, watched and stopped as one.
#pragma once
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/units.hpp"

namespace paths {

/// One process to start.
struct Launch {
  /// The host, for messages and in front of lines; "": all hosts are in this process.
  std::string host;
  std::vector<std::string> command;  ///< the program's file, then its arguments
  std::vector<std::pair<std::string, std::string>> variables;  ///< added to our environment
  /// Writes where we write, and reads what we read; the others' lines go out as "host| line" and
  /// they read nothing.
  bool plain = false;
  bool is_host = true;  ///< else `host` says what it is: "the switch of alpha"
};

struct LaunchOptions {
  int out = 1, err = 2;  ///< descriptors for the processes' output
  /// How long the end waits for a reader of `out` that takes nothing. After a failure or a signal
  /// it waits two seconds.
  base::Nanos reader_deadline = std::chrono::minutes(1);
  /// It is an error when all processes of hosts end with 0 and none has run threads.
  bool must_join = false;
};

/// Starts all and returns when all have ended: 0 when each ended with 0.
///
/// The first one that fails (another exit code, a signal, 0 before its threads had ended) stops the
/// others: SIGTERM, SIGKILL after two seconds, to the processes started here only. `options.err`
/// receives which one failed and how; returns 2 when it ended with 2 (wrong usage or config), else
/// 1. SIGINT, SIGTERM and SIGHUP to this process stop all in the same way; a second one kills them.
/// Either ends the wait for a reader of the output. All die with the calling thread.
///
/// Throws: std::system_error when the system refuses a process or a descriptor.
int launch(const std::vector<Launch>& processes, const LaunchOptions& options = {});

/// What the threads of this process do: sent to launch(), if that started us. A program that
/// exits with 0 in the middle of them looks as if it had done its work.
enum class ThreadsState : char {
  running = 'r',
  ended = 'e',
  not_needed = 'n',  ///< the program only printed its help or its version
};
void tell_launcher(ThreadsState state);

}  // namespace paths
