// SPDX-License-Identifier: Apache-2.0
// paths/run/processes/child_process.hpp — one process of a run: its start and its state.
#pragma once
#include <sys/resource.h>
#include <sys/types.h>

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "paths/run/launch.hpp"
#include "paths/run/processes/threads_state.hpp"

namespace paths {

/// Signals that stop a run if the launcher receives one of them.
inline constexpr int stopping_signals[] = {SIGINT, SIGTERM, SIGHUP};
/// Exit code of a child process that could not start its program, as in shells.
inline constexpr int not_started = 127;

/// Signal mask and limit of descriptors that the caller of launch() had. Started programs get these
/// settings, although launch() changes them in its own process.
struct InheritedSettings {
  sigset_t signal_mask;
  rlimit descriptors{};
};

/// Pipe whose read end does not block.
struct Pipe {
  base::Descriptor read, write;
};
/// Throws: std::system_error if the system refuses the pipe.
Pipe make_pipe();

/// A process that launch() has started.
class ChildProcess {
 public:
  /// Starts the program. `out` and `err` are the descriptors for the program's output.
  /// Throws: std::system_error if the system refuses the process or a descriptor.
  ChildProcess(const Launch& launch, int out, int err, const InheritedSettings& inherited);

  const Launch& launch() const { return *launch_; }
  /// Sends the signal to the process, or to its process group if it has a group of its own.
  void send_signal(int number) const;
  /// Returns whether the process has ended and its exit was collected.
  bool has_ended() const { return !end_; }
  /// Returns whether the kernel is ending the process. Peers of the process may lose their
  /// connections to it before collect_exit() reports that the process has ended.
  bool is_dying() const;
  /// Collects the exit of the process, and kills the rest of its own process group. Returns false
  /// if the process has not ended, or if its exit was collected before.
  bool collect_exit(int& status);
  /// Kills the process and collects its exit.
  void kill_now();

  void read_state() { state_.read(); }
  std::optional<ThreadsState> threads() const { return state_.state(); }
  /// Returns whether the process has reported that it runs, or has run, threads of the run.
  bool has_joined() const { return threads() && *threads() != ThreadsState::not_needed; }
  /// Returns whether the process exited with 0 without reporting a state of its threads.
  bool has_left_at_once() const { return has_left_at_once_; }

  /// Returns a descriptor that is readable when the process has ended; negative if the exit of the
  /// process was collected.
  int end() const { return end_.get(); }
  /// Returns a descriptor that is readable when read_state() has work; negative if no state can
  /// follow.
  int state_readable() const { return state_.readable(); }

 private:
  ChildProcess(const Launch& launch, int out, int err, const InheritedSettings& inherited,
               ThreadsStateSockets sockets);

  const Launch* launch_;
  pid_t pid_ = 0;
  base::Descriptor end_;
  ThreadsStateReader state_;
  bool has_left_at_once_ = false;
};

}  // namespace paths
