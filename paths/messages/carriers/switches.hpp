// SPDX-License-Identifier: Apache-2.0
// paths/messages/carriers/switches.hpp — the emulated switches of clusters, in one process with all
// hosts.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "paths/messages/message_endpoint.hpp"

namespace paths {

/// Of each cluster whose hosts reach others through a switch: where what they send queues for the
/// links to other clusters, one queue for each. They take no time of their own, and are neither
/// hosts nor steps of a way. Where hosts are processes, each is one as well: paths/run/run_switch.
///
/// Sharing: any context may call, once all hosts are there.
class Switches {
 public:
  Switches(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan);
  ~Switches();

  /// Where frames for that host go, and where what it sends to other clusters is recorded; both
  /// outlive it.
  void add(std::uint32_t host, MessageEndpoint& lanes, eventspace::Recorder& recorder);
  /// Nothing passes them any more: all hosts have ended.
  void stop();
  /// Whether that is the number of a switch, not of a host.
  bool has(std::uint32_t place) const { return place >= hosts_.size(); }
  /// What a host sends by the switch of that number.
  void deliver(std::uint32_t from, std::uint32_t number, LaneFrame frame);

 private:
  struct One;
  std::vector<MessageEndpoint*> hosts_;
  std::vector<eventspace::Recorder*> recorders_;  // by host
  std::vector<std::unique_ptr<One>> switches_;    // by cluster; null: it has none
};

}  // namespace paths
