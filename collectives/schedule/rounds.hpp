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
///      depend on the last incoming one. Therefore the first element of every message is copied
///      through a `hand` buffer at the sender and at the receiver. The next round needs the same
///      buffers, and so waits for this one.
class Rounds {
 public:
  explicit Rounds(Steps& steps) : steps_(steps) {}
  void exchange(Rank to, const Ref& what, Rank from, const Ref& into);

 private:
  /// Returns the message with a `hand` buffer in place of its first element.
  const Ref& passed(Block hand, const Ref& message);

  Steps& steps_;
  // Elements of which the receiving and the sending `hand` buffer hold copies.
  Block came_, went_;
  Ref message_;  // result of passed(); a member so that its memory is reused
};

/// Data of an allgather in rounds: one bundle of blocks for each member, in any layout. Before the
/// allgather each member has its own bundle; afterwards each member has all bundles.
using Bundles = std::span<const Ref>;
/// Spreading: each member sends its bundle to the next member, then to the one after that, and so
/// on.
void allgather_spreading(Rounds& rounds, const Team& team, Bundles bundles);
/// Doubling for powers of two, otherwise dissemination: the number of bundles doubles each round.
void allgather_doubling(Rounds& rounds, const Team& team, Bundles bundles);

}  // namespace collectives
