// SPDX-License-Identifier: Apache-2.0
// paths/run/launch.hpp — processes that belong together: started, watched and stopped as one.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paths {

/// One process to start.
struct Launch {
  std::string host;                  ///< whose process it is, for messages and in front of lines
  std::vector<std::string> command;  ///< the program's file, then its arguments
  std::vector<std::pair<std::string, std::string>> variables;  ///< added to our environment
  /// Writes where we write, and reads what we read; the others' lines go out as "host| line" and
  /// they read nothing.
  bool plain = false;
  bool is_host = true;  ///< else `host` says what it is: "the switch of alpha"
};

/// Where the processes' output goes: descriptors.
struct LaunchStreams {
  int out = 1;
  int err = 2;
};

/// Starts all and returns when all have ended: 0 when each ended with 0.
///
/// The first one that fails (another exit code, a signal, 0 before its threads had ended) stops the
/// others: SIGTERM, SIGKILL after two seconds, to the processes started here only. `streams.err` is
/// told which one failed and how; returns 2 when it ended with 2 (wrong usage or config), else 1.
/// SIGINT, SIGTERM and SIGHUP to us stop all likewise, a second one kills them. All die with the
/// calling thread. Throws:  std::system_error when the system refuses a process or a descriptor.
int launch(const std::vector<Launch>& processes, LaunchStreams streams = {});

/// Where the threads of this process are: said to launch(), if that started us. A program that
/// exits with 0 in the middle of them looks as if it had done its work.
enum class ThreadsState : char { running = 'r', ended = 'e' };
void tell_launcher(ThreadsState state);

/// Becomes that process; returns only to say why it could not.
std::string become(const Launch& process);

/// A path stays as it is; a name is looked for beside the running program, then in PATH. Nothing
/// when there is no such program.
std::optional<std::string> find_program(const std::string& name);
/// The programs beside the running one, to offer instead of a misspelt one.
std::vector<std::string> programs_beside();

}  // namespace paths
