// SPDX-License-Identifier: Apache-2.0
// paths/messages/carriers/switches.hpp — emulated switches of clusters in a one-process run
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "paths/messages/message_endpoint.hpp"

namespace paths {

/// Emulated switches of one process. If a cluster has a switch, the hosts of the cluster send
/// frames to other clusters through the switch. A switch has one queue for each link to another
/// cluster.
///
/// Switches add no delay of their own. A switch does not count as a host or as a step of a
/// message's route. If hosts are processes, this class is not used, and each switch is a process
/// (paths/run/run_switch).
///
/// Thread-safe: deliver(), after all hosts were added.
class Switches {
 public:
  Switches(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan);
  ~Switches();

  /// Adds a host. `lanes` receives the frames for the host. `recorder` records the frames that the
  /// host sends to other clusters.
  /// Requires: `lanes` and `recorder` outlive this object.
  void add(std::uint32_t host, MessageEndpoint& lanes, eventspace::Recorder& recorder);
  /// Stops the switches.
  /// Requires: all hosts have ended.
  void stop();
  /// Returns whether the number `place` denotes a switch, not a host.
  bool has(std::uint32_t place) const { return place >= hosts_.size(); }
  /// Processes a frame that the host `from` sends through the switch with this number.
  void deliver(std::uint32_t from, std::uint32_t number, LaneFrame frame);

 private:
  struct One;
  std::vector<MessageEndpoint*> hosts_;
  std::vector<eventspace::Recorder*> recorders_;  // indexed by host
  std::vector<std::unique_ptr<One>> switches_;    // indexed by cluster; nullptr if there is none
};

}  // namespace paths
