// SPDX-License-Identifier: Apache-2.0
// collectives/planner/port_state.hpp — times at which ports, pairs of hosts and links become free.
#pragma once
#include <vector>

#include "collectives/planner/plan.hpp"

namespace planning {

/// Limits on concurrent messages of a host.
struct PortModel {
  bool is_half_duplex = false;  ///< whether one port serves both sending and receiving
  /// Whether hosts have separate ports for messages from and to other clusters.
  bool are_apart = false;
  std::size_t receiving_across = 1;  ///< ports for messages from other clusters, if `are_apart`
  /// Whether a message also waits for a free slot of the link between its clusters
  /// (PairCosts::slots).
  bool counts_slots = false;
};

/// The paper's model of ports, plus a condition: a sender must have a piece before it sends the
/// piece. For piece d of m bytes from sender s to receiver r:
///
/// - start = max(pair[s,r], sending[s], receiving[r], here[d,s])
/// - end = start + L + m / B
/// - afterwards: pair[s,r] = start + g; sending[s] = start + os; receiving[r] = end;
///   here[d,r] = end
///
/// The arrays contain the times at which pairs of hosts and ports become free, and at which pieces
/// arrive at hosts. L, B, os and g are costs of PairCosts. With half duplex, sending[h] and
/// receiving[h] are the same value. A call of commit() plans a transfer. After the call, the
/// receiver is also a possible sender of the piece. The call never makes the end() of any other
/// transfer earlier.
/// Owns: nothing; costs and pieces must outlive it.
/// Thread-safe: no.
/// Paper: Gupta and Vadhiyar 2007, §4, equations 1 to 3.
class PortState {
 public:
  PortState(const PairCosts& costs, const std::vector<Piece>& pieces, const PortModel& model);

  bool has(std::uint32_t piece, Rank host) const { return here_[index(piece, host)] >= Nanos(0); }
  /// Return when a transfer of the piece from `from` to `to` would start and end, if it were
  /// planned next.
  /// Requires: `from` has the piece.
  Nanos start(std::uint32_t piece, Rank from, Rank to) const;
  Nanos end(std::uint32_t piece, Rank from, Rank to) const {
    return start(piece, from, to) + way(piece, from, to);
  }
  Transfer commit(std::uint32_t piece, Rank from, Rank to);

 private:
  /// The times at which the ports of one host, or the slots of one link, become free.
  class Slots {
   public:
    explicit Slots(std::size_t count = 1) : taken_(count, Nanos(0)) {}
    Nanos free_at() const { return taken_.front(); }
    void take(Nanos until);

   private:
    std::vector<Nanos> taken_;  // min-heap: the time at which each slot becomes free
  };
  std::size_t index(std::uint32_t piece, Rank host) const { return piece * hosts_ + host; }
  std::size_t pair(Rank from, Rank to) const { return from * hosts_ + to; }
  /// Returns L + m / B: the time from the start to the end of a transfer.
  Nanos way(std::uint32_t piece, Rank from, Rank to) const {
    return ways_[size_of_[piece]][pair(from, to)];
  }

  const PairCosts& costs_;
  const std::vector<Piece>& pieces_;
  PortModel model_;
  std::size_t hosts_;
  // Results of way(), indexed by the number of the piece's size (size_of_), then by pair().
  std::vector<std::vector<Nanos>> ways_;
  // Number of each piece's size: its index in `ways_`.
  std::vector<std::size_t> size_of_;
  // Time at which each piece arrives at each host; negative if the plan does not send it there yet.
  std::vector<Nanos> here_;
  std::vector<Nanos> pairs_;
  /// The class of ports and the link that messages of a pair of hosts use.
  struct Takes {
    // 1 = the separate ports for messages between clusters; 0 = all other ports.
    std::uint8_t ports = 0;
    std::uint32_t path = any;
    static constexpr std::uint32_t any = ~std::uint32_t{0};
  };
  std::vector<Takes> takes_;
  std::vector<Slots> sending_[2], receiving_[2];  // ports, indexed by Takes::ports and host
  std::vector<Slots> paths_;
};

}  // namespace planning
