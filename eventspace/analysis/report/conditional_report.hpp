// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/conditional_report.hpp — figures of condition checks.
#pragma once
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "eventspace/analysis/report/distribution.hpp"
#include "eventspace/analysis/report/fields.hpp"
#include "eventspace/analysis/report/place_reports.hpp"

namespace eventspace {

struct ConditionalReport {
  struct Remote {
    std::string cluster;
    std::uint64_t reads = 0;
    std::uint64_t unused = 0;
    std::uint64_t cached = 0;
    std::uint64_t in_flight = 0;
    std::uint64_t late = 0;
    double cached_share = 0;
    std::vector<std::uint64_t> by_place;
    /// One-way time from the other cluster; below 0 = unknown. If this time is unknown, `in_flight`
    /// and `late` are unknown as well.
    std::int64_t one_way_half_nanos = -1;
    Summary wait;
    Summary ahead;
    Summary prefetch;
  };
  struct Point {
    std::uint64_t sequence = 0;
    std::int64_t mean_nanos = 0;
    std::int64_t max_nanos = 0;
    std::uint64_t needing = 0;
    std::uint32_t needed_max = 0;
  };
  /// Counts of the operations that needed the values of all clusters in `clusters`, and of no
  /// further cluster.
  struct Together {
    std::vector<std::string> clusters;
    std::uint64_t operations = 0;
    std::uint64_t all_cached = 0;
  };
  Place place;
  std::string graph;
  std::uint64_t operations = 0;
  std::uint64_t proved = 0;
  double cached_share = 0;
  std::vector<std::uint64_t> by_values_needed;
  Summary time_to_decide;
  std::vector<Point> decision_times;  ///< at most 2048; each point covers equally many rounds
  std::vector<Remote> remotes;
  std::vector<Together> together;
  std::uint64_t other_together = 0;
};

template <class Visitor>
void describe(Visitor& visit, const ConditionalReport::Remote& remote) {
  visit.object(
      "remote_cluster",
      "How often a condition check read the values of another cluster, or decided without them.");
  visit.field("cluster", remote.cluster, units::none, "Name of the other cluster.");
  visit.field("reads", remote.reads, units::count, "Values that were used.");
  visit.field("wanted_but_decided_without", remote.unused, units::count,
              "Values that were wanted, but the condition was decided without them.");
  visit.field("cached", remote.cached, units::count,
              "Values that had arrived before they were wanted.");
  visit.field("cached_share", remote.cached_share, units::share, "Share of used values.");
  visit.field("first", remote.by_place.empty() ? std::uint64_t{0} : remote.by_place[0],
              units::rounds, "Rounds in which the value was used first.");
  visit.field("rounds_by_place_of_coming", remote.by_place, units::rounds,
              "Rounds in which the value was used first, second and so on: the order of arrival.");
  visit.field("wait_nanos", remote.wait, units::nanos, "Wait for a value that was used.");
  visit.field("rounds_ahead", remote.ahead, units::rounds,
              "Rounds by which the value was ahead of the round that read it.");
  visit.field("prefetch_nanos", remote.prefetch, units::nanos,
              "Time from the departure of a prefetch to the arrival of the value.");
  const Presence timed = left_out(remote.one_way_half_nanos < 0, "if the latency is unknown");
  visit.field("in_flight", remote.in_flight, units::count,
              "Values that arrived within one one-way latency.", timed);
  visit.field("late", remote.late, units::count,
              "Values that arrived later: the other cluster was late.", timed);
  visit.field("one_way_nanos_half_of_two_way", remote.one_way_half_nanos, units::nanos,
              "Half of the two-way time of the prefetch, or one way of a push.", timed);
}

template <class Visitor>
void describe(Visitor& visit, const ConditionalReport::Together& together) {
  visit.object("values_needed_together",
               "Operations that needed the values of exactly these clusters.");
  visit.field("clusters", NotEmpty(together.clusters), units::none, "Names of the clusters.");
  visit.field("operations", together.operations, units::count, "Such operations.");
  visit.field("all_cached", together.all_cached, units::count,
              "Such operations for which all values had arrived before.");
}

template <class Visitor>
void describe(Visitor& visit, const ConditionalReport& check) {
  using Point = ConditionalReport::Point;
  visit.object("conditional", "Condition check of a relaxed collective.");
  visit.field("place", check.place, units::none, "Position of the check.");
  visit.field("graph", check.graph, units::none, "Name of the collective.");
  visit.field("operations", check.operations, units::count, "Operations.");
  visit.field("proved", check.proved, units::count,
              "Operations that a part of the values decided.");
  visit.field("cached_share", check.cached_share, units::share,
              "Share of the used values of all clusters that had arrived before.");
  visit.field("operations_by_remote_values_needed", check.by_values_needed, units::count,
              "Operations that used 0, 1, 2 and so on values of other clusters.");
  visit.field("time_to_decide_nanos", check.time_to_decide, units::nanos, "Time to decide.");
  visit.field("decision_times_sequence_mean_max",
              Mapped(check.decision_times,
                     [](const Point& point) {
                       return std::tuple(point.sequence, point.mean_nanos, point.max_nanos);
                     }),
              units::nanos,
              "Time to decide over the run: rows of the first round, mean and maximum until the "
              "next row.");
  visit.field(
      "values_needed_sequence_operations_max",
      Mapped(check.decision_times,
             [](const Point& point) {
               return std::tuple(point.sequence, point.needing, point.needed_max);
             }),
      units::count,
      "Need for values over the run: rows of the first round, rounds that needed a value of "
      "another cluster (cached or not), and most values that one round needed.");
  visit.field("values_needed_together", check.together, units::none,
              "Sets of clusters whose values were needed together, the most frequent first.");
  visit.field("operations_of_other_sets", check.other_together, units::count,
              "Operations that needed a set that is not listed, because there are too many sets.");
  visit.field("remote_clusters", check.remotes, units::none, "Other clusters.");
}

}  // namespace eventspace
