// SPDX-License-Identifier: Apache-2.0
// collectives/planner/plan.hpp — planned allgather: ordered transfers with predicted times.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/digest.hpp"
#include "collectives/planner/pair_costs.hpp"
#include "collectives/schedule/algorithm.hpp"

namespace planning {

/// The data of one transfer: the block of a participant, or a segment of it.
struct Piece {
  Rank owner = 0;
  collectives::Range cells;  ///< elements of `out` that form the piece
  Bytes bytes = 0;
};

/// Returns the blocks of an allgather, each cut into `segments` parts of nearly equal size. If
/// `proportional` is true, only the largest block is cut into `segments` parts. The parts of
/// smaller blocks then have about the same size. Empty parts are omitted.
std::vector<Piece> pieces_of(const collectives::Counts& counts, Bytes element_bytes,
                             std::size_t segments = 1, bool proportional = false);

struct Transfer {
  Rank from = 0, to = 0;
  std::uint32_t piece = 0;
  Nanos start{0}, end{0};  ///< predicted times since the begin of the plan
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

/// An allgather as a list of transfers. Each participant does its own transfers in the order of the
/// list. In the list, a transfer that brings a piece to a host precedes all transfers of the piece
/// from that host. Participants therefore never wait for each other in a cycle.
/// Thread-safe: immutable once made.
struct Plan {
  Rank hosts = 0;
  collectives::Counts counts;
  std::vector<Piece> pieces;
  std::vector<Transfer> transfers;

  Nanos time() const;  ///< predicted end of the last transfer
  /// Returns a digest that is equal on all hosts that made the same plan.
  base::Digest digest() const;
};

/// Sorts transfers by their predicted starts. Transfers with the same start keep their order.
void sort_by_start(std::vector<Transfer>& transfers);

/// Appends the steps of participant `me`: a copy of its own block, then a step for each of its
/// transfers.
void append_steps(const Plan& plan, Rank me, collectives::Steps& steps);

/// Returns a transfer as text, for example "A0>B0 A0 0-1050": A0 sends the block of A0 to B0; the
/// transfer starts at 0 ms and ends at 1050 ms. "A0.1" is segment 1 of that block.
std::string text(const Plan& plan, const Transfer& transfer, std::span<const std::string> names);

/// Returns the plan as an algorithm. The algorithm can do only this allgather, and refuses all
/// other collectives, counts and numbers of participants. Code that verifies, evaluates or executes
/// algorithms can thus also handle plans.
collectives::Algorithm algorithm_of(std::shared_ptr<const Plan> plan, std::string name,
                                    std::string help);

}  // namespace planning
