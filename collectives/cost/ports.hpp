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
  /// Maximum number of messages to a host that have a grant and have not arrived. A host grants
  /// messages in the order of its receiving steps. A message without a grant is not transferred. If
  /// `receiving` is 0, the number is unlimited, and a message needs credit (Execution::credit) but
  /// no grant.
  std::size_t receiving = 0;
  /// Whether a host has separate ports for messages in its own cluster and for messages of other
  /// clusters. The messages of each kind then take their ports independently of the other kind.
  bool are_apart = false;
  /// Number of receiving ports for messages from other clusters; 0 = as many as `receiving`.
  std::size_t receiving_across = 0;
  /// Whether a message to another cluster keeps its sending port until its last byte has left the
  /// link. If false, the message keeps the port until its last byte has left the host.
  bool blocks = false;
  /// Additional time for which a message occupies its sending port. This time does not delay the
  /// message itself.
  base::Nanos cost{0};
  /// Whether sending ports are also receiving ports. If true, a message takes a port of both hosts
  /// when it starts. If several messages can start, the message with the smallest number starts
  /// first. A message has the larger of two numbers as its number: the index of its sending step in
  /// the sender's program, or of its receiving step in the receiver's program.
  bool is_half_duplex = false;
  /// Whether the steps of a host take ports in the order of its program. A step that cannot proceed
  /// then blocks all later steps, and the execution follows the plan exactly. With half duplex,
  /// sending and receiving steps have a common order. Otherwise sending steps have one order, and
  /// receiving steps have an order of their own.
  bool are_in_order = false;
  /// Whether a grant arrives only after the latency from the receiver to the sender. If false, it
  /// arrives immediately.
  bool are_grants_carried = false;

  /// Returns the number of receiving ports for a class of messages. Class 0 contains the messages
  /// inside a cluster, or all messages if ports are not separate. Class 1 contains the messages
  /// between clusters.
  std::size_t receiving_of(std::size_t of_class) const {
    return of_class == 1 && receiving_across > 0 ? receiving_across : receiving;
  }
};

}  // namespace pricing
