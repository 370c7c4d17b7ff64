// SPDX-License-Identifier: Apache-2.0
// groups/explanation.hpp — why an operation of a group takes its schedule, and what would change
// that.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/cost/bound.hpp"
#include "groups/ranking.hpp"

namespace groups {

/// A cost of the network that may change. All links of the named kind change by the same factor.
enum class NetworkCost {
  latency_between,    ///< latency between clusters
  bandwidth_between,  ///< bandwidth between clusters
  latency_inside,     ///< latency inside clusters
  bandwidth_inside,   ///< bandwidth inside clusters
  message,            ///< time of a host for each message, or for each frame
};
std::string_view name_of(NetworkCost cost);

/// A size or a cost from which on another schedule is taken.
struct Crossover {
  double factor = 1;     ///< the size or the cost, divided by that of the operation
  bool is_more = false;  ///< whether the schedule changes at more than that, not at less
  /// The other schedule, without the maximum length of its messages.
  std::string schedule;
};
struct CostCrossover {
  NetworkCost cost = NetworkCost::message;
  Crossover crossover;
};

struct Explanation {
  std::shared_ptr<const Selection> selection;  ///< what the group takes, and why
  pricing::Bound bound;                        ///< a time that no schedule can beat
  std::vector<RankedSchedule> ranking;         ///< fastest first
  std::vector<Crossover> sizes;                ///< at most one smaller and one larger size
  std::vector<CostCrossover> costs;  ///< at most one lower and one higher value of each cost
  bool examines_changes = true;      ///< whether `sizes` and `costs` were searched for

  const RankedSchedule& taken() const;
  /// Returns the fastest schedule that is allowed and not taken; nullptr if there is none.
  const RankedSchedule* next() const;
  /// Returns the fastest schedule that is faster than the one taken, but not allowed; else nullptr.
  const RankedSchedule* faster() const;
};

/// Explains the schedule of an operation. If it has the least predicted time, sizes and costs from
/// 1/16 to 16 times those of the operation are examined, to about 2%. That is only done for at most
/// 32 hosts and equal blocks, because it takes about a hundred selections. If a table of decisions
/// names the schedule, the sizes are the limits of its row.
/// Requires: `key.algorithm` names no plan (is_planned()).
/// Throws:   UsageError if no algorithm supports the operation.
Explanation explain(Selector& selector, const SelectionKey& key);

/// Returns the text of a schedule without the maximum length of its messages. A schedule has the
/// same text for all sizes that differ in that length only.
std::string text_without_length(const pricing::Candidate& candidate,
                                collectives::Collective collective);

}  // namespace groups
