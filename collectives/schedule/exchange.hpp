// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/exchange.hpp — allgather and reduce-scatter among the members of a team.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "collectives/schedule/step.hpp"
#include "collectives/schedule/stretches.hpp"
#include "collectives/schedule/team.hpp"

namespace collectives {

/// An allgather among the members of a team (team.hpp). Before the allgather, each member has its
/// own piece in `buffer`; afterwards each member has all pieces. `pieces` has the range of each
/// member's piece, in any layout.
struct Gathering {
  Team team;
  std::span<const Range> pieces;
  Buffer buffer = out;
  Channel channel = 0;
  Count segment = 0;  ///< maximum elements of a message in gather_binomial(); 0 = no limit
};
/// Ring: in each round, each member sends its right neighbour the piece that it received last. In
/// the first round, it sends its own piece.
void allgather_ring(Steps& steps, const Gathering& gathering);
/// Direct: each member sends its piece to all others, beginning with its right neighbour.
void allgather_direct(Steps& steps, const Gathering& gathering);
/// Bruck: from round to round, the distance to the partner doubles, and so does the number of
/// pieces that a member has. Works for any number of members.
void allgather_bruck(Steps& steps, const Gathering& gathering);
/// Doubling: in each round two neighbouring groups exchange all their pieces and become one group.
/// Requires: the number of members is a power of two.
void allgather_doubling(Steps& steps, const Gathering& gathering);

/// A reduce-scatter within a team. Each member has a vector in `source` and gets the sum of its own
/// piece. Partial sums are in scratch buffers, at the positions that `stretches` assigns. The three
/// reduce_scatter functions below return the block that contains the sum of this member's piece.
/// The block is in `result`, or in `source` if the team has one member.
struct Summing {
  Team team;
  std::span<const Range> pieces;
  const Stretches* stretches = nullptr;
  Buffer source = in;
  Buffer result = part;  ///< buffer for sums of two or more operands; scratch unless it is `out`
  Channel channel = 0;
  /// Topology whose order and groups the sums follow if possible; nullptr = none.
  const Topology* groups = nullptr;
  /// Returns the block of `range` in `buffer`. In a scratch buffer, `stretches` assigns the
  /// position.
  Block at(Buffer buffer, Range range) const {
    const bool is_scratch = buffer.storage != Storage::in && buffer.storage != Storage::out;
    return {buffer, is_scratch ? stretches->scratch(range) : range};
  }
};
/// Ring: partial sums travel around the ring. The sum of a piece begins at the right neighbour of
/// the piece's owner.
Block reduce_scatter_ring(Steps& steps, const Summing& summing);
/// Direct: each member sends its operands of every piece to the owner of the piece. The owner folds
/// them in team order, group by group.
Block reduce_scatter_direct(Steps& steps, const Summing& summing);
/// Halving: in each round, a member has partial sums of several pieces. It sends half of these
/// partial sums to a partner, and continues with the other half. The distance to the partner halves
/// each round.
/// Requires: the number of members is a power of two.
Block reduce_scatter_halving(Steps& steps, const Summing& summing);

/// Sends this member's sum of a range to all others and folds all sums in team order into `out`.
/// `scratch` is the range of each scratch buffer that receives the sums of other members.
void exchange_sums(Steps& steps, const Team& team, Block sum, Range range, Range scratch,
                   Channel channel = 0);

/// Scatters all pieces from the first member down a binomial tree. Each message has the pieces of a
/// whole subtree.
void scatter_binomial(Steps& steps, const Gathering& gathering);
/// Gathers all pieces at the first member, up the tree of scatter_binomial().
void gather_binomial(Steps& steps, const Gathering& gathering);

/// Return the names of the exchange algorithms above, which are values of parameters.
std::vector<std::string> allgather_words();
std::vector<std::string> reduce_scatter_words();
/// Call the exchange algorithm whose name is `word`.
void allgather(const std::string& word, Steps& steps, const Gathering& gathering);
Block reduce_scatter(const std::string& word, Steps& steps, const Summing& summing);
/// Whether the algorithm with this name needs a power of two as the number of members.
bool needs_power_of_two(const std::string& word);

}  // namespace collectives
