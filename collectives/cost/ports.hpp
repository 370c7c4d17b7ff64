// SPDX-License-Identifier: Apache-2.0
// collectives/cost/ports.hpp — limits on concurrent messages of a host, for planned schedules.
#pragma once
#include <cstddef>

#include "base/units.hpp"

namespace pricing {

/// The ports of a host, as in the one-port and k-port models of networks. Each message occupies a
/// port of its sender and of its receiver while it is under way. Ports are needed only for
/// schedules that plan when each pair of hosts communicates.
struct Ports {
  /// Maximum number of messages that a host sends at the same time (0 = unlimited). A free port
  /// goes to the oldest sending step whose message can be transferred.
  std::size_t sending = 0;
  /// Maximum number of messages that have a grant and have not arrived; 0 = unlimited, without
  /// grants. A receiver grants messages in the order of its receiving steps. A message without a
  /// grant is not transferred.
  std::size_t receiving = 0;
  /// Whether a host has separate ports for messages in its own cluster and for messages of other
  /// clusters. The messages of each kind then take their ports in an order of their own.
  bool are_apart = false;
  /// Number of receiving ports for messages from other clusters; 0 = as many as `receiving`.
  std::size_t receiving_across = 0;
  /// Whether a message keeps its sending port until its last byte has left the link. If false, it
  /// keeps the port only until that byte has left the host.
  bool blocks = false;
  /// Additional time for which a message occupies its sending port. This time does not delay the
  /// message itself.
  base::Nanos cost{0};
  /// Whether sending ports are also receiving ports. If true, a message takes a port of both hosts
  /// when it starts, and of several messages the one with the smallest number starts first.
  /// The number of a message is the larger of two step numbers: of its sending step in the sender's
  /// program, and of its receiving step in the receiver's program.
  bool is_half_duplex = false;
  /// Whether the steps of a host take ports in the order of its program. A step that cannot proceed
  /// then blocks all later steps, and the execution follows the plan exactly. With half duplex
  /// there is one order for sending and receiving steps. Otherwise there is one order for each.
  bool are_in_order = false;
  /// Whether a grant needs the latency from the receiver to the sender to arrive. If false, it
  /// arrives immediately.
  bool are_grants_carried = false;

  /// Returns the number of receiving ports for one class of messages. Class 0 is the messages of
  /// the own cluster, or all messages if ports are not separate. Class 1 is the messages of other
  /// clusters.
  std::size_t receiving_of(std::size_t of_class) const {
    return of_class == 1 && receiving_across > 0 ? receiving_across : receiving;
  }
};

}  // namespace pricing
