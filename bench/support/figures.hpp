// SPDX-License-Identifier: Apache-2.0
// bench/support/figures.hpp — measurements of noise_allreduce, as JSON and as a table
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.hpp"
#include "base/units.hpp"
#include "bench/support/collective.hpp"
#include "bench/support/decisions.hpp"
#include "bench/support/progress.hpp"
#include "paths/connections/connections.hpp"
#include "paths/plan/plan.hpp"
#include "runtime/runtime.hpp"

namespace bench {

using base::Nanos;

/// Percentiles of a thread's iteration times (nearest-rank method).
struct Spread {
  Nanos p50{0};
  Nanos p99{0};
  Nanos max{0};
};
Spread spread_of(std::vector<Nanos> durations);

/// Totals over the iterations of one thread.
struct ThreadFigures {
  std::uint32_t rank = 0;
  Nanos compute{0};
  Nanos allreduce{0};
  Nanos elapsed{0};  ///< time from the start of the first iteration to the end of the last
  Spread spread = {};
  std::uint64_t proved = 0;  ///< number of iterations whose result some of the contributions proved
  base::Digest conditions;   ///< digest of the conditions of all iterations
  Decisions decisions = {};
};

/// Results of one run. The JSON and the table define their figures as follows:
///
/// - ms_per_iteration: `mean` is the mean of the thread with the longest total time. `p50` and
///   `p99` are the percentiles of the thread with the longest p50. `max` is the maximum of all
///   threads. The slowest thread is used because a cluster can run ahead of other clusters with a
///   relaxed algorithm, until it must wait for them.
/// - compute, allreduce: mean times over threads and iterations.
/// - wan: number of frames between clusters, and number of bytes in their payloads. Control frames
///   do not count. The numbers cover all rounds, including the warm-up. A cluster's figures count
///   the frames that the cluster sent. If a process does not know the counts of some hosts, all
///   figures are null, and `unknown_hosts` lists these hosts.
/// - proved_share: share of the iterations in which a part of the contributions was enough to prove
///   the result; mean over the cluster's threads.
/// - decided: numbers of iterations by how the cluster's result was decided. `remote` counts the
///   iterations that the cluster's own values did not decide. `waits` contains, for each other
///   cluster, the number of waits for it and their mean and maximum duration.
/// - stop_iteration: `about` is the first iteration whose condition held. `known` is the iteration
///   in which the threads received the result of `about`.
/// - cpu_ms: CPU time per round of each host that is a process of its own. It includes computation.
/// - hosts: number of hosts with threads.
struct Figures {
  const paths::Plan& plan;
  Collective collective = {};
  std::uint64_t iterations = 0;
  std::uint64_t rounds = 0;  ///< number of rounds, including warm-up rounds
  runtime::ClockKind clock = runtime::ClockKind::steady;
  std::uint64_t seed = 0;
  std::vector<ThreadFigures> threads = {};  ///< threads whose figures are known, ordered by rank
  std::vector<Nanos> iterations_of_thread_0 = {};    ///< duration of each iteration
  std::map<std::uint32_t, paths::Traffic> wan = {};  ///< traffic between clusters, by sending host
  /// Hosts that send frames to other clusters, but are missing in `wan`.
  std::vector<std::uint32_t> wan_unknown = {};
  std::map<std::uint32_t, double> cpu_seconds = {};  ///< CPU time of each host that is a process
};

/// Returns the hosts whose traffic is missing in `known` although they send to another cluster.
/// Only operations of the graph `graph` and replies to these operations count.
std::vector<std::uint32_t> hosts_with_unknown_wan(
    const paths::Plan& plan, std::string_view graph,
    const std::map<std::uint32_t, paths::Traffic>& known);
/// Adds `unknown_hosts` to the figures of traffic and sets all other figures to null. Does nothing
/// if `unknown` is empty.
void mark_unknown(nlohmann::ordered_json& traffic, const paths::Plan& plan,
                  const std::vector<std::uint32_t>& unknown);

/// After Ctrl-C: prints the iteration times of thread 0 so far, writes them as JSON, and ends the
/// process. `all` is the planned number of iterations; 0 = unknown.
void end_if_asked(const Interruption& interruption, const std::string& program,
                  const std::vector<Nanos>& durations, std::uint64_t all,
                  const std::string& json_file);

/// Returns the value with `digits` decimals, or "-" for null.
std::string figure_text(const nlohmann::ordered_json& value, int digits);

/// Returns all results except `provenance`. On the virtual clock, equal runs give equal bytes.
nlohmann::ordered_json to_json(const Figures& figures);
/// Returns the JSON as readable text.
std::string to_table(const nlohmann::ordered_json& json);
/// Returns "" if all threads received the same sequence of conditions; otherwise a text about the
/// differences.
std::string disagreement(const Figures& figures);

}  // namespace bench
