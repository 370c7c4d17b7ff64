// SPDX-License-Identifier: Apache-2.0
// bench/support/decisions.hpp — how the results of one thread's rounds came to be known.
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

/// Counts over the rounds of a thread: those that ended unchecked, and the others by the origin of
/// their results (paths::Origin).
struct Decisions {
  std::uint64_t unchecked = 0, joined = 0, local = 0, cached = 0, waited = 0;
  /// Waits for tuples of other clusters, by the cluster whose tuple ended them.
  struct Waits {
    std::uint64_t count = 0;
    base::Nanos total{0}, longest{0};
  };
  std::map<std::uint32_t, Waits> waits;
  /// The first round, counted from 1, whose result said that the condition holds, and the round
  /// that brought it. A late result may be about a round before the first one: that is none.
  std::optional<std::uint64_t> stop, stop_known;

  /// The result that round number `round`, from 1, brought; `first` is the sequence of round 1.
  void add(std::uint64_t round, std::uint64_t first, const paths::Result& result);
  /// Rounds whose own cluster's values did not decide, as Bongo et al. 2004, §VI-C, count them.
  std::uint64_t remote() const { return cached + waited; }
};

/// The number, from 1, of the round with that sequence; `first` is the sequence of round 1.
std::int64_t number_of(std::uint64_t sequence, std::uint64_t first);

nlohmann::json to_json(const Decisions& decisions);
Decisions decisions_from_json(const nlohmann::json& json);

/// Names of the clusters with threads, in the plan's order: an origin's cluster is a place here.
std::vector<std::string> computing_clusters(const paths::Plan& plan);

/// What one round brought, for those who want each: lines "cluster,round,about,origin,from,nanos".
struct Decided {
  std::uint64_t round = 0;
  std::int64_t about = 0;  ///< of a late result: 0 or less is before round 1
  bool is_unchecked = false;
  paths::Origin origin;
};
/// `clusters`: computing_clusters().
std::string to_csv(const std::string& cluster, const std::vector<Decided>& rounds,
                   const std::vector<std::string>& clusters);

}  // namespace bench
