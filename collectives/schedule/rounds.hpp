// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/rounds.hpp — rounds in which a participant blocks until its exchange ends.
#pragma once
#include <span>

#include "collectives/schedule/step.hpp"
#include "collectives/schedule/team.hpp"

namespace collectives {

/// Rounds of one outgoing and one incoming message. A round begins when both messages of the round
/// before have ended: the outgoing one has left, the incoming one has arrived.
///
/// Why: Only data dependencies order steps, and the next outgoing message often does not depend on
///      the last incoming one. Therefore the first element of every message passes a `hand` buffer
///      on each side, which the next round needs, too.
class Rounds {
 public:
  explicit Rounds(Steps& steps) : steps_(steps) {}
  void exchange(Rank to, const Ref& what, Rank from, const Ref& into);

 private:
  /// Returns the message with a hand in place of its first element.
  const Ref& passed(Block hand, const Ref& message);

  Steps& steps_;
  Block came_, went_;  // first elements that the receiving and the sending hand hold
  Ref message_;        // reused for its memory
};

/// Bundles of the members of an allgather in rounds, in any layout. Before it, each member has its
/// own bundle; afterwards it has all of them.
using Bundles = std::span<const Ref>;
/// Spreading: each member sends its bundle to the next member, then to the one after that, and so
/// on.
void allgather_spreading(Rounds& rounds, const Team& team, Bundles bundles);
/// Doubling for powers of two, otherwise dissemination: the number of bundles doubles each round.
void allgather_doubling(Rounds& rounds, const Team& team, Bundles bundles);

}  // namespace collectives
