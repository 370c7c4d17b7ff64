// SPDX-License-Identifier: Apache-2.0
// collectives/cost/ports.hpp — limits on concurrent messages of a host, for planned schedules.
#pragma once
#include <cstddef>

#include "base/units.hpp"

namespace pricing {

/// Ports of a host, as in the one-port and k-port models: each message occupies a port of its host
/// while the message is under way. Only schedules that plan when each pair of hosts communicates
/// need ports.
struct Ports {
  /// Maximum number of messages that a host sends at once (0 = unlimited). A free port goes to the
  /// oldest sending step whose message can be transferred.
  std::size_t sending = 0;
  /// Maximum number of messages that are granted and have not arrived (0 = unlimited, no grants).
  /// Grants follow the order of the receiving steps, and no message is transferred without a
  /// grant.
  std::size_t receiving = 0;
  /// Whether a host has separate ports for messages in its own cluster and for messages of other
  /// clusters. Each class of ports then has an order of its own.
  bool are_apart = false;
  /// Number of receiving ports for messages from other clusters; 0 = as many as `receiving`.
  std::size_t receiving_across = 0;
  /// true: a message holds its sending port until its last byte has left the link. false: until its
  /// last byte has left the host.
  bool blocks = false;
  base::Nanos cost{0};  ///< additional time of holding a sending port; does not delay the message
  /// Whether sending ports are also receiving ports. A message takes a port of both hosts when it
  /// starts. If several messages could start, the message with the smallest number starts first.
  /// The number of a message is the larger of two positions: that of its sending step in the
  /// sender's program, and that of its receiving step in the receiver's program.
  bool is_half_duplex = false;
  /// Whether sending steps take ports in program order, so that a step that cannot proceed blocks
  /// all later steps. With half duplex, sending and receiving steps of a host take ports in one
  /// common order. Execution then follows the plan exactly.
  bool are_in_order = false;
  /// true: a grant arrives after the latency from the receiver to the sender. false: it arrives at
  /// once.
  bool are_grants_carried = false;

  /// Returns the number of receiving ports for one class of messages: 0 = from the own cluster, or
  /// all messages if the ports are not separate; 1 = from other clusters.
  std::size_t receiving_of(std::size_t of_class) const {
    return of_class == 1 && receiving_across > 0 ? receiving_across : receiving;
  }
};

}  // namespace pricing
