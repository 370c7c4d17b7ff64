// SPDX-License-Identifier: Apache-2.0
// collectives/cost/transit.hpp — simulated frames on their way between two hosts.
#pragma once
#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "base/link_model/link_instance.hpp"
#include "base/link_model/streams.hpp"
#include "collectives/cost/port_table.hpp"
#include "collectives/cost/state.hpp"

namespace pricing::simulation {

/// The sides of all hosts and the links between clusters, with the frames on them. Carries frames
/// from the outgoing side of the source to the event Kind::arrived.
class Transit {
 public:
  /// The way through the outgoing side of the host. All other values of a way are indexes of links.
  static constexpr std::size_t own_side = std::numeric_limits<std::size_t>::max();

  /// Both arguments outlive this object.
  Transit(State& state, PortTable& ports);

  /// Returns the way by which a message leaves its host. A message from an exit to another cluster
  /// enters the link directly. Any other message first passes the outgoing side of its host.
  std::size_t way_of(const Message& message) const;
  /// Passes a frame to the outgoing side or to a link. Returns the time at which the host can pass
  /// the next frame by this way.
  Nanos enter(std::size_t way, const Event& frame);
  /// Handles an event that concerns a link, a stream, or the first byte (head) of a frame.
  void happen(const Event& event);

 private:
  /// The outgoing and the receiving side of a host's network interface, towards its cluster's
  /// network.
  struct Sides {
    tuning::LinkInstance outgoing, receiving;
  };
  /// A frame that waits for a free stream of its link.
  struct Streamed {
    MessageIndex message;
    std::uint32_t number;  // index of the frame in its message
    Bytes credit;          // credit in bytes that the frame has used
  };
  using Streams = tuning::Streams<Streamed>;
  struct Taken {
    Taken(const Link& link, std::size_t striping) : instance(link.model), streams(link, striping) {}
    tuning::LinkInstance instance;
    Streams streams;  // unused if the link has no streams
  };

  Nanos enter_link(const Event& event);
  void leave_link(Event event, const tuning::LinkInstance::Passage& passage);
  void serve_streams(std::size_t link);
  void pass_side(Event event);
  void pass_exit(Event event);
  Taken& link_at(std::size_t link) {
    std::unique_ptr<Taken>& taken = links_[link];
    if (taken == nullptr)
      taken = std::make_unique<Taken>(state_.network.links[link], state_.network.striping);
    return *taken;
  }

  State& state_;
  PortTable& ports_;
  std::vector<Sides> sides_;  // sides of each host, indexed like Network::outgoing
  // Links between clusters, indexed like Network::links; nullptr until first used. If there are
  // many clusters, most links are never used.
  std::vector<std::unique_ptr<Taken>> links_;
};

}  // namespace pricing::simulation
