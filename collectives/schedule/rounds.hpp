// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/rounds.hpp — rounds in which a participant blocks until its exchange ends.
#pragma once
#include <span>

#include "collectives/schedule/step.hpp"
#include "collectives/schedule/team.hpp"

namespace collectives {

/// Rounds of one outgoing and one incoming message. A round begins when both messages of the
/// previous round have ended: the outgoing message has left and the incoming message has arrived.
///
/// Why: Steps are ordered only by data dependencies, and the next outgoing message often does not
///      depend on the last incoming message. Therefore the first element of every message is copied
///      through a `hand` buffer at the sender and at the receiver. The messages of the next round
///      use the same buffers, so they wait for the messages of this round.
class Rounds {
 public:
  explicit Rounds(Steps& steps) : steps_(steps) {}
  void exchange(Rank to, const Ref& what, Rank from, const Ref& into);

 private:
  /// Returns the blocks of the message, with the buffer `hand` in place of its first element.
  const Ref& passed(Block hand, const Ref& message);

  Steps& steps_;
  // First elements of the latest incoming and outgoing message. The receiving `hand` buffer has a
  // copy of came_. The sending `hand` buffer has a copy of went_.
  Block came_, went_;
  Ref message_;  // result of passed(); a member so that its memory is reused
};

/// Data of an allgather in rounds: one bundle of blocks for each member, in any layout. Before the
/// allgather each member has its own bundle; afterwards each member has all bundles.
using Bundles = std::span<const Ref>;
/// Spreading: in round k, each member sends its bundle to the member k positions after it in the
/// team.
void allgather_spreading(Rounds& rounds, const Team& team, Bundles bundles);
/// Recursive doubling if the number of members is a power of two, otherwise dissemination. The
/// number of bundles that a member has doubles each round.
void allgather_doubling(Rounds& rounds, const Team& team, Bundles bundles);

}  // namespace collectives
