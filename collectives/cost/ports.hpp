// SPDX-License-Identifier: Apache-2.0
// collectives/cost/ports.hpp — how many messages a host sends and awaits at once, where that is
// planned.
#pragma once
#include <cstddef>

#include "base/units.hpp"

namespace pricing {

/// Ports of a host, for schedules that plan who talks to whom when; 0: as many as it likes.
struct Ports {
  /// Messages that hold one at once, the oldest step that can move first.
  std::size_t sending = 0;
  /// Messages granted and not there yet. Grants are given in the order of the receiving steps, and
  /// no message moves without one.
  std::size_t receiving = 0;
  bool are_apart = false;  ///< all of them, and their orders: for other clusters and for its own
  std::size_t receiving_across = 0;  ///< for other clusters, if that is another number
  bool blocks = false;  ///< held until the tail has left the link, else until it is sent
  base::Nanos cost{0};  ///< for which one is held on; the message is not delayed
  /// Sending ones are for receiving, too. A message takes those of both hosts when it starts, of
  /// several that could the one whose later step is the oldest.
  bool is_half_duplex = false;
  /// Sending steps take them in their order: one that cannot move holds up those behind it. With
  /// half duplex all steps of a host are in one order. What a plan predicts is then what happens.
  bool are_in_order = false;
  bool are_grants_carried = false;  ///< with the latency of the way back, else in no time
};

}  // namespace pricing
