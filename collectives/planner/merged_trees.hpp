// SPDX-License-Identifier: Apache-2.0
// collectives/planner/merged_trees.hpp — plan of an allgather from one broadcast tree per block.
#pragma once
#include <functional>

#include "collectives/planner/broadcast_tree.hpp"
#include "collectives/planner/port_state.hpp"

namespace planning {

enum class Merging {
  /// Plans one tree after the other. A host forwards a block as soon as it has it, without regard
  /// to other trees. Meant for hosts without receiving ports, which accept any message.
  in_turn,
  /// Plans all trees together. Candidates are the next edges in the trees: for each block, the next
  /// child of each host that has the block. The candidate whose transfer ends first is planned
  /// next.
  by_end,
};

using MakeTree = std::function<BroadcastTree(const PairCosts& costs, Rank root, Bytes bytes)>;

/// Plans an allgather from broadcast trees. `in_turn` is the variant that the paper calls
/// unordered, `by_end` the ordered one. If a block is cut into segments, each segment has a tree of
/// its own.
/// Paper: Gupta and Vadhiyar 2007, §6.1.
Plan merged_trees(const MakeTree& tree, Merging merging, const PairCosts& costs,
                  const collectives::Counts& counts, std::vector<Piece> pieces,
                  const PortModel& model = {});

}  // namespace planning
