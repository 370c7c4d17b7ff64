// SPDX-License-Identifier: Apache-2.0
// bench/support/decisions.hpp — counts of how the results of a thread's rounds were decided
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "paths/operation.hpp"
#include "paths/plan/plan.hpp"

namespace bench {

/// Counts of a thread's rounds. `unchecked` counts rounds in which no condition was evaluated.
/// `joined`, `local`, `cached` and `waited` count the other rounds by the origin of their results
/// (paths::Origin).
struct Decisions {
  std::uint64_t unchecked = 0, joined = 0, local = 0, cached = 0, waited = 0;
  /// Number and durations of waits for tuples of other clusters, keyed by the cluster whose tuple
  /// ended the wait.
  struct Waits {
    std::uint64_t count = 0;
    base::Nanos total{0}, longest{0};
  };
  std::map<std::uint32_t, Waits> waits;
  /// `stop` is the first round whose condition held. `stop_known` is the round in which the thread
  /// received the result of `stop`. Rounds count from 1. Results about warm-up rounds do not count.
  std::optional<std::uint64_t> stop, stop_known;

  /// Adds the result that the thread received in round `round`. `first` is the sequence number of
  /// round 1.
  void add(std::uint64_t round, std::uint64_t first, const paths::Result& result);
  /// Returns the number of rounds that the cluster's own values did not decide, as in Bongo et al.
  /// 2004, §VI-C.
  std::uint64_t remote() const { return cached + waited; }
};

/// Returns the number of the round that has the sequence number `sequence`; below 1 = a warm-up
/// round. `first` is the sequence number of round 1.
std::int64_t number_of(std::uint64_t sequence, std::uint64_t first);

nlohmann::json to_json(const Decisions& decisions);
Decisions decisions_from_json(const nlohmann::json& json);

/// Returns the names of the clusters with threads, in the plan's order. The cluster of an Origin is
/// an index in this list.
std::vector<std::string> computing_clusters(const paths::Plan& plan);

/// The result of one round in one cluster: a line of the CSV file of --decisions.
struct Decided {
  std::uint64_t round = 0;
  std::int64_t about = 0;  ///< round to which the result belongs; below 1 = a warm-up round
  bool is_unchecked = false;
  paths::Origin origin;
};
/// Returns a CSV line for each round of the cluster. Requires: `clusters` is the result of
/// computing_clusters().
std::string to_csv(const std::string& cluster, const std::vector<Decided>& rounds,
                   const std::vector<std::string>& clusters);

}  // namespace bench
