// SPDX-License-Identifier: Apache-2.0
// collectives/cost/ports.hpp — limits on concurrent messages of a host, for planned schedules.
#pragma once
#include <cstddef>

#include "base/units.hpp"

namespace pricing {

/// Ports of a host, as in the one-port and k-port models: each message takes a port of its host
/// while it is under way. For schedules that plan which hosts communicate when.
struct Ports {
  /// Maximum number of messages that a host sends at once (0 = unlimited). A free port goes to the
  /// oldest sending step whose message can be transferred.
  std::size_t sending = 0;
  /// Maximum number of messages that are granted and have not arrived (0 = unlimited, no grants).
  /// Grants follow the order of the receiving steps, and no message is transferred without a
  /// grant.
  std::size_t receiving = 0;
  /// Whether a host has separate ports, with separate orders, for its own cluster and for others.
  bool are_apart = false;
  /// Receiving ports across clusters; 0 = as many as `receiving`.
  std::size_t receiving_across = 0;
  /// Whether a port is held until the message has left the link, otherwise until it is sent.
  bool blocks = false;
  base::Nanos cost{0};  ///< additional time of holding a sending port; does not delay the message
  /// Whether sending ports are also receiving ports. A message takes a port of both hosts when it
  /// starts. Each message has a sending step and a receiving step, numbered by their position in
  /// the program of their host; the larger number counts. Among several messages that could start,
  /// the one with the smallest such number starts.
  bool is_half_duplex = false;
  /// Whether sending steps take ports in program order, so that a step that cannot proceed blocks
  /// all later steps. With half duplex, sending and receiving steps of a host are in one order.
  /// Execution then follows the plan exactly.
  bool are_in_order = false;
  /// Whether grants travel with the latency from the receiver to the sender, otherwise in no time.
  bool are_grants_carried = false;

  /// Returns the receiving ports for one class of hosts: 0 = of its own cluster, or all hosts if
  /// the ports are not apart; 1 = of other clusters.
  std::size_t receiving_of(std::size_t of_class) const {
    return of_class == 1 && receiving_across > 0 ? receiving_across : receiving;
  }
};

}  // namespace pricing
