// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/critical_report.hpp — critical paths of rounds, by cause.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "eventspace/analysis/report/distribution.hpp"
#include "eventspace/analysis/report/fields.hpp"

namespace eventspace {

/// Causes of time on a round's critical path. At each join, the path goes through the contributor
/// that arrived last.
enum class Cause : std::uint8_t {
  computation,
  noise,  ///< time by which a computation exceeds the base of its thread
  join,
  network,
  link,
  broadcast_delay,  ///< delay of results by a link within one host
  check,            ///< wait of a condition check for values of other clusters
  internal,
};
inline constexpr std::size_t causes = 8;
inline constexpr std::array<std::string_view, causes> cause_names = {
    "computation", "noise",           "join",           "network",
    "link",        "broadcast delay", "other clusters", "within hosts"};
constexpr std::string_view cause_name(Cause cause) { return name_in(cause_names, cause); }

struct CriticalReport {
  struct Part {
    Cause cause = Cause::computation;
    std::string what;
    std::string host;
    std::string position;
    std::int64_t nanos = 0;
    std::uint64_t rounds = 0;
  };
  std::string graph;
  std::string cluster;
  std::uint64_t rounds = 0;
  std::uint64_t iterations = 0;
  std::uint64_t incomplete_rounds = 0;
  std::uint64_t failed_rounds = 0;
  Summary iteration;
  Summary computation;
  Summary communication;
  std::array<std::int64_t, causes> by_cause = {};
  std::vector<Part> parts;
};

template <class Visitor>
void describe(Visitor& visit, const CriticalReport::Part& part) {
  visit.object("critical_part", "Part of critical paths that one thread or wrapper caused.");
  visit.field("cause", Word{cause_name(part.cause), cause_names}, units::none, "The cause.");
  visit.field("what", part.what, units::none, "Thread or wrapper.");
  visit.field("host", part.host, units::none, "Its host.");
  visit.field("position", part.position, units::none, "Its position in the config.");
  visit.field("nanos", part.nanos, units::nanos, "Time on the critical paths.");
  visit.field("rounds", part.rounds, units::rounds, "Rounds in which it had a part.");
}

template <class Visitor>
void describe(Visitor& visit, const CriticalReport& critical) {
  visit.object("critical_path",
               "Rounds of one tree of a collective, each followed from the thread that arrived "
               "last.");
  visit.field("graph", critical.graph, units::none, "Name of the collective.");
  visit.field("cluster", critical.cluster, units::none,
              "Cluster of the tree; empty if the collective has one tree.");
  visit.field("rounds", critical.rounds, units::rounds, "Complete rounds.");
  visit.field("iterations", critical.iterations, units::iterations,
              "Rounds, and iterations that a `periodic` of each thread replied to.");
  visit.field("incomplete_rounds", critical.incomplete_rounds, units::rounds,
              "Rounds without all records.");
  visit.field("failed_rounds", critical.failed_rounds, units::rounds, "Rounds that failed.");
  visit.field(
      "iteration_nanos", critical.iteration, units::nanos,
      "Computation and operation of the critical thread, which waits for no other in joins. "
      "If a `periodic` replied, that is the thread that the next round waited for.");
  visit.field("computation_nanos", critical.computation, units::nanos,
              "Computation of that thread.");
  visit.field("communication_nanos", critical.communication, units::nanos,
              "Operation of that thread.");
  visit.field("nanos_by_cause", ByWord<std::int64_t>{cause_names, critical.by_cause}, units::nanos,
              "Time on the critical paths, by cause.");
  visit.field("parts", critical.parts, units::none, "Parts of the time, the greatest first.");
}

}  // namespace eventspace
