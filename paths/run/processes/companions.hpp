// SPDX-License-Identifier: Apache-2.0
// paths/run/processes/companions.hpp — programs that run next to the processes of a run.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "paths/run/launch.hpp"
#include "paths/run/processes/child_process.hpp"

namespace paths {

/// The companions of a run (LaunchOptions::companions). Each runs in a process group of its own, so
/// that the processes that it starts end with it. A companion that exits with 0 is started again.
///
/// Thread-safe: no.
class Companions {
 public:
  /// Requires: `inherited` outlives this object.
  explicit Companions(const InheritedSettings& inherited);
  /// Kills all companions.
  ~Companions();
  Companions(const Companions&) = delete;
  Companions& operator=(const Companions&) = delete;

  /// Starts a companion. Its standard error is written to `err`; its standard output is discarded.
  /// Requires: `launch` outlives this object.
  /// Throws: std::system_error if the system refuses the process or a descriptor.
  void start(const Launch& launch, base::Descriptor err);

  /// A companion that cannot run next to the hosts, and the exit code of a run that it stops.
  struct Failure {
    std::string text;
    int exit_code = 1;
  };
  /// Starts the companions again that have exited with 0, unless they were stopped. Returns the
  /// first failure: a companion that was killed, that exited with another code, or that ran for
  /// less than a second. Returns nullopt if there is none, or if the companions were stopped.
  std::optional<Failure> collect_ended();

  /// Sends the signal to all companions. No companion is started again afterwards.
  void stop(int signal);
  bool are_stopped() const { return are_stopped_; }
  bool any_left() const;
  /// Returns descriptors that are readable when collect_ended() has work.
  std::vector<int> ends() const;
  /// Returns the number of starts that followed an exit with code 0.
  std::size_t restarts() const { return restarts_; }

 private:
  struct Companion {
    const Launch* launch = nullptr;
    base::Descriptor err;    // stays open, so that a restarted process can use it
    base::Descriptor timer;  // has expired if the process has run for `least_seconds`
    std::optional<ChildProcess> process = {};
  };
  void start(Companion& companion);

  const InheritedSettings& inherited_;
  base::Descriptor out_;  // discards what is written to it
  std::vector<Companion> companions_;
  std::size_t restarts_ = 0;
  bool are_stopped_ = false;
};

}  // namespace paths
