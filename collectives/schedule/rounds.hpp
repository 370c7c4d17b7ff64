// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/rounds.hpp — exchanges that wait for each other, as calls that block do.
#pragma once
#include <span>

#include "collectives/schedule/step.hpp"
#include "collectives/schedule/team.hpp"

namespace collectives {

/// Rounds of one message out and one in, each begun when both of the one before have ended: what is
/// out has left, what is in is here.
///
/// Why: only data order steps, and what goes out next often has nothing to do with what came in. So
///      the first element of every message passes a hand on each side, which the next round needs.
class Rounds {
 public:
  explicit Rounds(Steps& steps) : steps_(steps) {}
  void exchange(Rank to, const Ref& what, Rank from, const Ref& into);

 private:
  /// The message, with a hand in place of its first element.
  const Ref& passed(Block hand, const Ref& message);

  Steps& steps_;
  Block came_, went_;  // what the hands have
  Ref message_;        // its memory is used again
};

/// Allgather in rounds: each member of the team has its own bundle before and all of them
/// afterwards, wherever their blocks lie.
using Bundles = std::span<const Ref>;
/// spreading: each sends its own to the next, then to the one behind that, and so on.
void allgather_spreading(Rounds& rounds, const Team& team, Bundles bundles);
/// doubling for powers of two, else dissemination: twice as many bundles every round.
void allgather_doubling(Rounds& rounds, const Team& team, Bundles bundles);

}  // namespace collectives
