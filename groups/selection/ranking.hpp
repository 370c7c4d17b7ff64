// SPDX-License-Identifier: Apache-2.0
// groups/selection/ranking.hpp — all schedules for an operation, with predicted times
#pragma once
#include <optional>
#include <vector>

#include "collectives/cost/best.hpp"
#include "groups/selection/selection.hpp"

namespace groups {

/// The fastest schedule of one algorithm and one order of summation.
struct RankedSchedule {
  pricing::Candidate candidate;
  /// Predicted time on Selector::network(), which includes assumed costs.
  base::Nanos time{0};
  /// Predicted time on Selector::links(), without assumed costs. On the virtual clock an operation
  /// takes this time.
  base::Nanos time_on_links{0};
  std::optional<collectives::Order> order;  ///< order of summation; nullopt if nothing is reduced
  bool is_allowed = true;                   ///< whether the operation may be summed in this order
  bool is_taken = false;                    ///< whether the group uses this schedule
};

/// Returns the schedules for an operation, fastest first. Exactly one schedule has `is_taken`: the
/// schedule that Selector::answer() returns for the same key, even if the key or a table of
/// decisions names it. Among equally fast schedules, the schedule with `is_taken` is first.
/// Requires: `key.algorithm` names no plan (is_planned()).
/// Throws:   UsageError if no algorithm supports the operation.
std::vector<RankedSchedule> rank_schedules(Selector& selector, const SelectionKey& key);

}  // namespace groups
