// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/exchange.hpp — allgather and reduce-scatter among a team, in several ways.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "collectives/schedule/step.hpp"
#include "collectives/schedule/stretches.hpp"
#include "collectives/schedule/team.hpp"

namespace collectives {

/// Pieces that members of a team gather: each has its own at its place in `buffer` before, and all
/// of them afterwards. `pieces` has one for each member, wherever they lie.
struct Gathering {
  Team team;
  std::span<const Range> pieces;
  Buffer buffer = out;
  Channel channel = 0;
  Count segment = 0;  ///< up the binomial tree: the elements of a message at most; 0: all in one
};
/// ring: round by round each passes on to its right what came from its left.
void allgather_ring(Steps& steps, const Gathering& gathering);
/// direct: each sends its own to all others, beginning with its right.
void allgather_direct(Steps& steps, const Gathering& gathering);
/// bruck: twice as many pieces every round, from twice the distance; any number of members.
void allgather_bruck(Steps& steps, const Gathering& gathering);
/// doubling: aligned groups exchange all that they have; powers of two only.
void allgather_doubling(Steps& steps, const Gathering& gathering);

/// Vectors that members of a team sum up, each getting the sum of its piece. `source` has them;
/// intermediate sums lie where `stretches` has scratch.
struct Summing {
  Team team;
  std::span<const Range> pieces;
  const Stretches* stretches = nullptr;
  Buffer source = in;
  Buffer result = part;  ///< where a sum of two or more is put, in scratch unless it is `out`
  Channel channel = 0;
  const Topology* groups = nullptr;  ///< whose order and groups sums keep, if they can
  /// A range of one of the buffers, wherever it has it.
  Block at(Buffer buffer, Range range) const {
    const bool is_scratch = buffer.storage != Storage::in && buffer.storage != Storage::out;
    return {buffer, is_scratch ? stretches->scratch(range) : range};
  }
};
/// Each says where the sum of its piece is: in `result`, or in `source` if it is alone.
/// ring: partial sums go round, each piece's beginning on the right of its owner.
Block reduce_scatter_ring(Steps& steps, const Summing& summing);
/// direct: everybody sends each its piece, who folds them in the order of the team, group by group.
Block reduce_scatter_direct(Steps& steps, const Summing& summing);
/// halving: half of what is left goes to a partner at half the distance; powers of two only.
Block reduce_scatter_halving(Steps& steps, const Summing& summing);

/// Each sends its sum of a range to all others, and folds what comes in the order of the team into
/// `out`. `scratch` is where the range lies in scratch.
void exchange_sums(Steps& steps, const Team& team, Block sum, Range range, Range scratch,
                   Channel channel = 0);

/// Pieces travel down the binomial tree from the first member, which has all of them, each with
/// those of all below its owner; and up it.
void scatter_binomial(Steps& steps, const Gathering& gathering);
void gather_binomial(Steps& steps, const Gathering& gathering);

/// By name, for parameters.
std::vector<std::string> allgather_words();
std::vector<std::string> reduce_scatter_words();
void allgather(const std::string& word, Steps& steps, const Gathering& gathering);
Block reduce_scatter(const std::string& word, Steps& steps, const Summing& summing);
/// Whether it needs as many members as a power of two.
bool needs_power_of_two(const std::string& word);

}  // namespace collectives
