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

/// The simulated cores of all machines of a run on the virtual clock. Needed if the config states
/// the number of cores of a machine. Hosts are on one machine if their addresses are
/// (are_of_one_machine()). A service context calls a function for each piece of work that ends.
///
/// Thread-safe: all functions, except construction and destruction.
class SimulatedCores {
 public:
  /// Called when a piece of work has ended, at that time, without locks.
  using End = std::function<void()>;
  /// Returns the cores of the plan's machines; nullptr if the hosts of a run do not share cores.
  static std::unique_ptr<SimulatedCores> make(runtime::Runtime& runtime, const Plan& plan);

  SimulatedCores(runtime::Runtime& runtime, const Plan& plan);

  /// Requests work of a host that would take `time` on a core of its own.
  void request(std::uint32_t host, base::Nanos time, End end);
  /// Returns whether the host has requested work that has not ended.
  bool works(std::uint32_t host) const;
  /// Removes all work of the host.
  void leave(std::uint32_t host);

 private:
  void serve();

  runtime::Runtime& runtime_;
  mutable runtime::Mutex mutex_;
  tuning::SharedCores<End> cores_;
  runtime::WaitList earlier_;  // notified when work is added that ends before all other work
  base::Nanos sleeps_until_ = base::Nanos::max();
  runtime::Task service_;  // destroyed first, because it uses the other members
};

}  // namespace paths
