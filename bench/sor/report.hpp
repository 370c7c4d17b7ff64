// SPDX-License-Identifier: Apache-2.0
// bench/sor/report.hpp — results of a run of the solver, as JSON and as a table
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/sor/solver.hpp"
#include "bench/support/figures.hpp"
#include "paths/run/program.hpp"

namespace bench {

/// Properties of a run that are not in the parts of its threads.
struct SorRun {
  std::string data;
  std::uint64_t data_seed;
  const SorTask& task;
  const Collective& collective;
};

/// Returns all results except `provenance`. On the virtual clock with declared costs, equal runs
/// give equal bytes.
///
/// - iterations: number of iterations done.
/// - stop_iteration: number of the iteration whose sum of changes ended the run, from 1; null if no
///   sum of changes ended it.
/// - halo_iterations: greatest latency, in iterations, of a border between clusters.
/// - ms_per_iteration, compute_ms, allreduce_ms, clusters, hosts: as in the report of the program
///   noise_allreduce (bench/support/figures.hpp).
/// - exchange_ms: wait for border rows; mean over threads and iterations.
/// - compute_ms_by_thread: the least and the greatest of the threads' mean computation times per
///   iteration.
/// - wan: as in noise_allreduce, for the collective, for the exchange, and for both together.
/// - redundant_rows_share: number of neighbours' rows that threads relaxed redundantly, divided by
///   the number of their own rows that they relaxed. `most` is the greatest share of any thread.
/// - grid_digest: digest of the whole grid. It does not depend on the division of the grid; null if
///   parts are missing.
nlohmann::ordered_json sor_figures(const SorRun& run, const std::map<std::uint32_t, SorPart>& parts,
                                   const paths::RunSummary& summary);
/// Returns the JSON as readable text.
std::string sor_table(const nlohmann::ordered_json& json);
/// Returns "" if all threads received the same conditions; otherwise a text about the differences.
std::string sor_disagreement(const std::map<std::uint32_t, SorPart>& parts,
                             const paths::RunSummary& summary);

}  // namespace bench
