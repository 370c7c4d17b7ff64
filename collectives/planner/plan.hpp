// SPDX-License-Identifier: Apache-2.0
// collectives/planner/plan.hpp — who is to send what to whom, in which order, and when that should
// happen.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/digest.hpp"
#include "collectives/planner/pair_costs.hpp"
#include "collectives/schedule/algorithm.hpp"

namespace planning {

/// What travels as a whole: a participant's block, or a segment of it.
struct Piece {
  Rank owner = 0;
  collectives::Range cells;  ///< of `out`
  Bytes bytes = 0;
};

/// The blocks of an allgather, each in so many segments, as equal as elements allow. What has no
/// element is no piece: nobody sends it. `proportional`: the largest block has so many, smaller
/// ones fewer.
std::vector<Piece> pieces_of(const collectives::Counts& counts, Bytes element_bytes,
                             std::size_t segments = 1, bool proportional = false);

struct Transfer {
  Rank from = 0, to = 0;
  std::uint32_t piece = 0;
  Nanos start{0}, end{0};  ///< predicted
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

/// An allgather as transfers. A participant does its own in the order of the list, which is one in
/// which everybody has what it sends: by construction there is no cycle.
/// Sharing: never changes once it is made; anybody may read it.
struct Plan {
  Rank hosts = 0;
  collectives::Counts counts;
  std::vector<Piece> pieces;
  std::vector<Transfer> transfers;

  Nanos time() const;  ///< predicted
  /// The same on every host that planned the same.
  base::Digest digest() const;
};

/// In the order of their predicted starts, those of one moment as they were.
void sort_by_start(std::vector<Transfer>& transfers);

/// The steps of a participant: its own block is copied, then a step for each of its transfers.
void append_steps(const Plan& plan, Rank me, collectives::Steps& steps);

/// "A0>B0 A0 0-1050", in milliseconds; segments of a block as "A0.1".
std::string text(const Plan& plan, const Transfer& transfer, std::span<const std::string> names);

/// The plan as an algorithm, which does exactly its allgather and refuses every other task. So who
/// verifies, prices or executes algorithms takes plans, too.
collectives::Algorithm algorithm_of(std::shared_ptr<const Plan> plan, std::string name,
                                    std::string help);

}  // namespace planning
