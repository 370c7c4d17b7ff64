// SPDX-License-Identifier: Apache-2.0
// paths/messages/carriers/switches.hpp — emulated switches of clusters in a one-process run
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "paths/messages/message_endpoint.hpp"

namespace paths {

/// Hosts of some clusters reach other clusters through a switch. A switch holds the queues for the
/// links to the other clusters, one queue for each link.
///
/// Switches add no time of their own. They are neither hosts nor steps of a way. If hosts are
/// processes, each switch is a process, too: paths/run/run_switch.
///
/// Thread-safe: deliver(), after all hosts were added.
class Switches {
 public:
  Switches(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan);
  ~Switches();

  /// Sets the endpoint that receives frames for a host, and the recorder of the frames that it
  /// sends to other clusters. Both outlive this object.
  void add(std::uint32_t host, MessageEndpoint& lanes, eventspace::Recorder& recorder);
  /// Stops the switches. Requires: all hosts have ended.
  void stop();
  /// Whether `place` is the number of a switch, not of a host.
  bool has(std::uint32_t place) const { return place >= hosts_.size(); }
  /// Takes a frame that a host sends through the switch of that number.
  void deliver(std::uint32_t from, std::uint32_t number, LaneFrame frame);

 private:
  struct One;
  std::vector<MessageEndpoint*> hosts_;
  std::vector<eventspace::Recorder*> recorders_;  // indexed by host
  std::vector<std::unique_ptr<One>> switches_;    // indexed by cluster; nullptr = no switch
};

}  // namespace paths
