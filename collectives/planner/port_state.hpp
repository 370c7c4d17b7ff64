// SPDX-License-Identifier: Apache-2.0
// collectives/planner/port_state.hpp — until when ports, pairs and paths are taken by what is
// planned so far.
#pragma once
#include <algorithm>
#include <vector>

#include "collectives/planner/plan.hpp"

namespace planning {

/// What a host may do at once.
struct PortModel {
  bool is_half_duplex = false;  ///< its one port is for sending or for receiving
  /// Ports for other clusters besides those for its own.
  bool are_apart = false;
  std::size_t receiving_across = 1;  ///< of the ports for other clusters, where they are apart
  /// A message waits for one of the slots of its path, too (PairCosts::slots).
  bool counts_slots = false;
};

/// The model of ports of Gupta and Vadhiyar 2007, §4, equations 1 to 3, and what they leave out: a
/// message cannot start before its sender has what it sends.
///
///     start = max(pair[s,r], sending[s], receiving[r], here[d,s])
///     end   = start + L + m / B
///     then: pair[s,r] = start + g; sending[s] = start + os; receiving[r] = end; here[d,r] = end
///
/// with L, B, os, g of PairCosts; with half duplex sending and receiving are one. Ends only grow
/// by what is committed, but for further senders.
/// Sharing: its owner's business. Borrows costs and pieces.
class PortState {
 public:
  PortState(const PairCosts& costs, const std::vector<Piece>& pieces, const PortModel& model);

  bool has(std::uint32_t piece, Rank host) const { return here_[index(piece, host)] >= Nanos(0); }
  /// Of a piece that the sender has.
  Nanos start(std::uint32_t piece, Rank from, Rank to) const;
  Nanos end(std::uint32_t piece, Rank from, Rank to) const {
    return start(piece, from, to) + way(piece, from, to);
  }
  Transfer commit(std::uint32_t piece, Rank from, Rank to);

 private:
  /// Several of a kind: which is free first, and until when they are taken.
  class Slots {
   public:
    explicit Slots(std::size_t count = 1) : taken_(count, Nanos(0)) {}
    Nanos free_at() const { return taken_.front(); }
    void take(Nanos until);

   private:
    std::vector<Nanos> taken_;  // a heap, the first one to be free on top
  };
  std::size_t index(std::uint32_t piece, Rank host) const { return piece * hosts_ + host; }
  std::size_t pair(Rank from, Rank to) const { return from * hosts_ + to; }
  /// L + m / B.
  Nanos way(std::uint32_t piece, Rank from, Rank to) const {
    return ways_[size_of_[piece]][pair(from, to)];
  }

  const PairCosts& costs_;
  const std::vector<Piece>& pieces_;
  PortModel model_;
  std::size_t hosts_;
  std::vector<std::vector<Nanos>> ways_;  // by different size, by pair
  std::vector<std::size_t> size_of_;      // by piece
  std::vector<Nanos> here_;               // by piece and host; below 0: not at all
  std::vector<Nanos> pairs_;
  /// Of a pair: which ports it takes, and which path's slots.
  struct Takes {
    std::uint8_t ports = 0;  // 1: those for other clusters
    std::uint32_t path = any;
    static constexpr std::uint32_t any = ~std::uint32_t{0};
  };
  std::vector<Takes> takes_;
  std::vector<Slots> sending_[2], receiving_[2];  // by Takes::ports, by host
  std::vector<Slots> paths_;
};

}  // namespace planning
