// SPDX-License-Identifier: Apache-2.0
// collectives/planner/merged_trees.hpp — allgather from one broadcast tree per block.
#pragma once
#include <functional>

#include "collectives/planner/broadcast_tree.hpp"
#include "collectives/planner/port_state.hpp"

namespace planning {

enum class Merging {
  /// Plans tree by tree. A host forwards a block as soon as it has the block, regardless of other
  /// trees. Intended for hosts without receiving ports, which accept any message.
  in_turn,
  /// Always plans next the edge of any tree that ends first in the model of ports. The candidates
  /// are, for each block and each host that has it, the next edge of that host.
  by_end,
};

using MakeTree = std::function<BroadcastTree(const PairCosts& costs, Rank root, Bytes bytes)>;

/// Plans an allgather from broadcast trees. `in_turn` is the paper's unordered variant, `by_end`
/// the ordered one. Each segment of a block has its own tree.
/// Paper: Gupta and Vadhiyar 2007, §6.1.
Plan merged_trees(const MakeTree& tree, Merging merging, const PairCosts& costs,
                  const collectives::Counts& counts, std::vector<Piece> pieces,
                  const PortModel& model = {});

}  // namespace planning
