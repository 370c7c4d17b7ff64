// SPDX-License-Identifier: Apache-2.0
// groups/selection/explanation.hpp — reasons for a schedule, and costs at which it changes
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/cost/bound.hpp"
#include "groups/selection/ranking.hpp"

namespace groups {

/// A cost of the network that explain() varies. All links of the named kind then change by the same
/// factor.
enum class NetworkCost {
  latency_between,
  bandwidth_between,
  latency_inside,
  bandwidth_inside,
  message,  ///< time of a host for each message, or for each frame
  work,     ///< time of a host for folds and copies
};
std::string_view name_of(NetworkCost cost);

/// A size of the vector, or a cost of the network, at which the group changes to another schedule.
struct Crossover {
  double factor = 1;     ///< size or cost at the change, divided by the present value
  bool is_more = false;  ///< true: the other schedule is used above this value; false: below it
  /// Text of the other schedule, without the maximum length of its messages.
  std::string schedule;
};
struct CostCrossover {
  NetworkCost cost = NetworkCost::message;
  Crossover crossover;
};

/// Part of the predicted time that one cost of the network causes on the critical path. Waiting for
/// a busy link counts as bandwidth. Waiting for a busy host counts as the work of that host.
struct TimeShare {
  NetworkCost cost = NetworkCost::message;
  base::Nanos time{0};
};

struct Explanation {
  std::shared_ptr<const Selection> selection;  ///< schedule that the group uses, and the reason
  pricing::Bound bound;                        ///< a time that no schedule can beat
  std::vector<RankedSchedule> ranking;         ///< all schedules, fastest first
  /// Parts of the predicted time, largest first. The parts add up to the predicted time, except for
  /// rounding to nanoseconds. Empty if nothing takes time.
  std::vector<TimeShare> shares;
  std::vector<Crossover> sizes;  ///< nearest smaller and larger size with another schedule
  std::vector<CostCrossover>
      costs;                     ///< nearest lower and higher cost with another schedule, per cost
  bool examines_changes = true;  ///< whether explain() searched for `sizes` and `costs`

  const RankedSchedule& taken() const;
  /// Returns the fastest of the allowed schedules that the group does not use; nullptr if the group
  /// uses the only allowed schedule.
  const RankedSchedule* next() const;
  /// Returns the fastest of the schedules that are not allowed, if it is faster than the schedule
  /// that the group uses; otherwise nullptr.
  const RankedSchedule* faster() const;
};

/// Explains why an operation uses its schedule. If the reason is the least predicted time,
/// explain() also searches for sizes and costs at which the schedule changes. The search goes from
/// 1/16 to 16 times the present values, and finds the changes to about 2%. The search is omitted
/// above 32 hosts and for unequal blocks, because it makes about a hundred selections. A schedule
/// that is not faster than the present one is no change. If a table of decisions names the
/// schedule, `sizes` are the sizes at which the table names another schedule.
///
/// If all costs grow by one factor, the predicted time grows by the same factor. The predicted time
/// is therefore the sum of all costs, each multiplied by the derivative of the time by this cost.
/// To compute these products, explain() predicts the time with 1% more and with 1% less of each
/// cost.
/// Requires: `key.algorithm` names no plan (is_planned()).
/// Throws:   UsageError if no algorithm supports the operation.
Explanation explain(Selector& selector, const SelectionKey& key);

/// Returns the text of a schedule without the maximum length of its messages. Schedules that differ
/// only in this length have the same text.
std::string text_without_length(const pricing::Candidate& candidate,
                                collectives::Collective collective);

}  // namespace groups
