// SPDX-License-Identifier: Apache-2.0
// collectives/planner/merged_trees.cpp — order in which the edges of many broadcast trees are
// planned.
#include "collectives/planner/merged_trees.hpp"

#include <queue>
#include <tuple>

namespace planning {
namespace {

/// The next transfer of a piece by a host: an edge of the piece's broadcast tree, and the predicted
/// end of the transfer.
struct Edge {
  Nanos end;
  std::uint32_t piece = 0;
  Rank from = 0, to = 0;
  /// Compares in reverse order, so that a std::priority_queue has the transfer that ends first on
  /// top.
  friend bool operator<(const Edge& left, const Edge& right) {
    return std::tie(left.end, left.piece, left.from) > std::tie(right.end, right.piece, right.from);
  }
};

class Merger {
 public:
  Merger(const std::vector<BroadcastTree>& trees, PortState& state) : trees_(trees), state_(state) {
    for (const BroadcastTree& tree : trees) served_.emplace_back(tree.children.size());
  }

  void begin(std::uint32_t piece) { offer(piece, trees_[piece].root); }
  /// Plans the transfers of all trees for which begin() was called, and appends them to
  /// `transfers`. After these transfers, every host has the pieces of these trees.
  void merge(std::vector<Transfer>& transfers) {
    while (!queue_.empty()) {
      const Edge edge = queue_.top();
      queue_.pop();
      // Transfers that were planned after this edge was queued may use the same ports. If the
      // transfer of this edge would therefore end later, the edge is queued again with the new end.
      if (state_.end(edge.piece, edge.from, edge.to) != edge.end) {
        offer(edge.piece, edge.from);
        continue;
      }
      transfers.push_back(state_.commit(edge.piece, edge.from, edge.to));
      ++served_[edge.piece][edge.from];
      offer(edge.piece, edge.from);
      offer(edge.piece, edge.to);
    }
  }

 private:
  void offer(std::uint32_t piece, Rank host) {
    const std::vector<Rank>& children = trees_[piece].children[host];
    const std::size_t next = served_[piece][host];
    if (next == children.size()) return;
    queue_.push({state_.end(piece, host, children[next]), piece, host, children[next]});
  }

  const std::vector<BroadcastTree>& trees_;
  PortState& state_;
  // Number of children to which a host has already sent a piece; indexed by piece, then by host.
  std::vector<std::vector<std::size_t>> served_;
  std::priority_queue<Edge> queue_;
};

}  // namespace

Plan merged_trees(const MakeTree& tree, Merging merging, const PairCosts& costs,
                  const collectives::Counts& counts, std::vector<Piece> pieces,
                  const PortModel& model) {
  Plan plan{.hosts = costs.hosts(), .counts = counts, .pieces = std::move(pieces), .transfers = {}};
  std::vector<BroadcastTree> trees;
  for (const Piece& piece : plan.pieces) trees.push_back(tree(costs, piece.owner, piece.bytes));
  PortState state(costs, plan.pieces, model);
  Merger merger(trees, state);
  for (std::uint32_t piece = 0; piece < trees.size(); ++piece) {
    merger.begin(piece);
    if (merging == Merging::in_turn) merger.merge(plan.transfers);
  }
  merger.merge(plan.transfers);
  return plan;
}

}  // namespace planning
