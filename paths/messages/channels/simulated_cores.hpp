// SPDX-License-Identifier: Apache-2.0
// paths/messages/channels/simulated_cores.hpp — cores that the hosts of a virtual run share.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

#include "base/link_model/shared_cores.hpp"
#include "paths/plan/plan.hpp"
#include "runtime/runtime.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// The simulated cores of all machines of a run on the virtual clock. A run has this object if the
/// config states the number of cores of a machine. Hosts are on the same machine if
/// are_of_one_machine() is true for their addresses. When a piece of work ends, a service context
/// calls the function that was passed to begin().
///
/// Thread-safe: all functions, except construction and destruction.
class SimulatedCores {
 public:
  /// Function that is called when a piece of work ends. The mutex of this object is then not held.
  using End = std::function<void()>;
  /// Returns the cores of the plan's machines; nullptr if the hosts of a run do not share cores.
  static std::unique_ptr<SimulatedCores> make(runtime::Runtime& runtime, const Plan& plan);

  SimulatedCores(runtime::Runtime& runtime, const Plan& plan);

  /// Begins work of a host that would take `time` on a core of its own.
  /// Requires: the earlier work of the host has ended.
  void begin(std::uint32_t host, base::Nanos time, End end);
  /// Removes the work of the host.
  void leave(std::uint32_t host);

 private:
  void serve();

  runtime::Runtime& runtime_;
  runtime::Mutex mutex_;
  tuning::SharedCores<End> cores_;
  runtime::WaitList earlier_;  // notified if new work ends before sleeps_until_
  base::Nanos sleeps_until_ = base::Nanos::max();
  runtime::Task service_;  // destroyed first, because it uses the other members
};

}  // namespace paths
