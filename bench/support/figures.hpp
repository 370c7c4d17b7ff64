// SPDX-License-Identifier: Apache-2.0
// bench/support/figures.hpp — what noise_allreduce measured, as JSON and as a table.
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

/// How the iterations of one thread differ, by nearest rank.
struct Spread {
  Nanos p50{0};
  Nanos p99{0};
  Nanos max{0};
};
Spread spread_of(std::vector<Nanos> durations);

/// Sums over the iterations of one thread.
struct ThreadFigures {
  std::uint32_t rank = 0;
  Nanos compute{0};
  Nanos allreduce{0};
  Nanos elapsed{0};  ///< from the begin of its first iteration to the end of its last
  Spread spread = {};
  std::uint64_t proved = 0;  ///< iterations whose result was known from a part
  base::Digest conditions;   ///< of the condition of every iteration
  Decisions decisions = {};
};

/// Everything one run yields. Both forms below define their figures so:
///
/// ms_per_iteration  mean: of the thread that took longest for all iterations; p50, p99: of the
///                   thread with the longest p50; max: of any. (Under a relaxation a cluster may
///                   run ahead of others until it must wait for them: the pace is the slowest's.)
/// compute, allreduce  means over threads and iterations.
/// wan               frames that crossed a link between clusters, and the bytes of their payloads,
///                   over all rounds, those of the warm-up included; without `control` frames. A
///                   cluster's are those it sent. null, with the hosts in `unknown_hosts`, if a
///                   process does not know what others sent.
/// proved_share      iterations whose result was known from a part, over iterations; mean over the
///                   cluster's threads.
/// decided           iterations by how the cluster's result came to be known; remote: those that
///                   its own values did not decide; wait_ms: means over such waits.
/// stop_iteration    the first iteration whose condition held, and known: when all were told.
/// cpu_ms            of processes, per iteration, where a host is one: computing included.
/// hosts             those with threads.
struct Figures {
  const paths::Plan& plan;
  Collective collective = {};
  std::uint64_t iterations = 0;
  std::uint64_t rounds = 0;  ///< with those of the warm-up
  runtime::ClockKind clock = runtime::ClockKind::steady;
  std::uint64_t seed = 0;
  std::vector<ThreadFigures> threads = {};           ///< those that are known, by rank
  std::vector<Nanos> iterations_of_thread_0 = {};    ///< how long each took
  std::map<std::uint32_t, paths::Traffic> wan = {};  ///< by host
  std::vector<std::uint32_t> wan_unknown = {};       ///< hosts that sent, not in `wan`
  std::map<std::uint32_t, double> cpu_seconds = {};  ///< by host, of those that are processes
};

/// The hosts that send operations of this graph, or replies to them, to another cluster, and of
/// which `known` has nothing.
std::vector<std::uint32_t> hosts_with_unknown_wan(
    const paths::Plan& plan, std::string_view graph,
    const std::map<std::uint32_t, paths::Traffic>& known);
/// Adds `unknown_hosts` to figures of traffic and makes all others null; nothing if all are known.
void mark_unknown(nlohmann::ordered_json& traffic, const paths::Plan& plan,
                  const std::vector<std::uint32_t>& unknown);

/// If the user asked for the end: prints how long the iterations of thread 0 took so far, writes
/// that as JSON as well, and ends the process. `all` = 0: how many there would be is not known.
void end_if_asked(const Interruption& interruption, const std::string& program,
                  const std::vector<Nanos>& durations, std::uint64_t all,
                  const std::string& json_file);

/// "-" for null.
std::string figure_text(const nlohmann::ordered_json& value, int digits);

/// All but `provenance`, the same bytes for the same run of a virtual clock.
nlohmann::ordered_json to_json(const Figures& figures);
/// The JSON as a person reads it.
std::string to_table(const nlohmann::ordered_json& json);
/// Empty when all threads learnt the same sequence of conditions, otherwise who learnt what.
std::string disagreement(const Figures& figures);

}  // namespace bench
