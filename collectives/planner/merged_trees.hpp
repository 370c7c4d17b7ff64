// SPDX-License-Identifier: Apache-2.0
// collectives/planner/merged_trees.hpp — plan of an allgather from one broadcast tree per block.
#pragma once
#include <functional>

#include "collectives/planner/broadcast_tree.hpp"
#include "collectives/planner/port_state.hpp"

namespace planning {

enum class Merging {
  /// Plans one tree after the other. A host forwards the block of a tree as soon as it has the
  /// block, without regard to later trees. This order is meant for hosts with unlimited receiving
  /// ports: such hosts accept any number of messages at the same time.
  in_turn,
  /// Plans all trees together, edge by edge. In each step, each host has one candidate for each
  /// block that it has: the edge to its next child. The candidate whose transfer would end first is
  /// planned.
  by_end,
};

using MakeTree = std::function<BroadcastTree(const PairCosts& costs, Rank root, Bytes bytes)>;

/// Plans an allgather from broadcast trees. The paper calls the variant `in_turn` unordered, and
/// the variant `by_end` ordered. If a block is cut into segments, each segment has a tree of its
/// own.
/// Paper: Gupta and Vadhiyar 2007, §6.1.
Plan merged_trees(const MakeTree& tree, Merging merging, const PairCosts& costs,
                  const collectives::Counts& counts, std::vector<Piece> pieces,
                  const PortModel& model = {});

}  // namespace planning
