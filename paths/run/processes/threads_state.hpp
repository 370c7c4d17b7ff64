// SPDX-License-Identifier: Apache-2.0
// paths/run/processes/threads_state.hpp — report of a started process about its threads.
#pragma once
#include <optional>
#include <string>
#include <utility>

#include "base/descriptor.hpp"

namespace paths {

/// State of the threads in a process that launch() has started. The process reports this state to
/// launch(). Without the report, a program that exits with 0 while its threads run would look
/// successful.
enum class ThreadsState : char {
  running = 'r',
  ended = 'e',
  not_needed = 'n',  ///< the program only printed its help or its version
};
/// Reports the state of this process to launch(). Has no effect if launch() has not started this
/// process.
void notify_launcher(ThreadsState state);

/// Sockets between launch() and a process that it starts.
struct ThreadsStateSockets {
  base::Descriptor of_launcher;
  base::Descriptor of_process;  ///< socket that the started process inherits
};
/// Makes a connected pair of sockets. Throws: std::system_error if the system refuses the sockets.
ThreadsStateSockets make_threads_state_sockets();
/// Returns name and value of the environment variable by which the started process finds its
/// socket.
std::pair<std::string, std::string> threads_state_variable(const base::Descriptor& of_process);

/// Reads the states that one process reports. Never blocks.
class ThreadsStateReader {
 public:
  explicit ThreadsStateReader(base::Descriptor of_launcher) : socket_(std::move(of_launcher)) {}
  void read();
  /// Returns the state that the process reported last; nullopt if it has reported none.
  std::optional<ThreadsState> state() const { return state_; }
  /// Returns a descriptor that is readable when read() has work; negative if no state can follow.
  int readable() const { return socket_.get(); }

 private:
  base::Descriptor socket_;
  std::optional<ThreadsState> state_;
};

}  // namespace paths
