// SPDX-License-Identifier: Apache-2.0
// collectives/planner/merged_trees.hpp — an allgather of broadcasts, a tree for each block.
#pragma once
#include <functional>

#include "collectives/planner/broadcast_tree.hpp"
#include "collectives/planner/port_state.hpp"

namespace planning {

enum class Merging {
  /// Tree by tree: who has a block sends it on, whatever else there is. For hosts that receive
  /// whatever comes (no receiving ports).
  in_turn,
  /// Always the edge that ends first by the model of ports, of those that a host with the block has
  /// to serve next.
  by_end,
};

using MakeTree = std::function<BroadcastTree(const PairCosts& costs, Rank root, Bytes bytes)>;

/// Allgather from broadcast trees, Gupta and Vadhiyar 2007, §6.1, unordered and ordered. Segments
/// of a block have trees of their own.
Plan merged_trees(const MakeTree& tree, Merging merging, const PairCosts& costs,
                  const collectives::Counts& counts, std::vector<Piece> pieces,
                  const PortModel& model = {});

}  // namespace planning
