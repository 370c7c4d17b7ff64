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

/// Properties of a run that the parts lack.
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
/// - stop_iteration: the iteration whose sum of changes ended the run, counted from 1; null if none
///   did.
/// - halo_iterations: greatest latency, in iterations, of a border between clusters.
/// - ms_per_iteration, compute_ms, allreduce_ms, clusters, hosts: as in noise_allreduce.
/// - exchange_ms: wait for border rows; mean over threads and iterations.
/// - compute_ms_by_thread: each thread has a mean computation time per iteration; the least and the
///   greatest of these means.
/// - wan: as in noise_allreduce, for the collective and the exchange together, and for each of
///   them.
/// - redundant_rows_share: rows relaxed for neighbours of other clusters, divided by the threads'
///   own rows; `most` is the greatest share of one thread.
/// - grid_digest: digest of the whole grid, independent of its division; null if parts are missing.
nlohmann::ordered_json sor_figures(const SorRun& run, const std::map<std::uint32_t, SorPart>& parts,
                                   const paths::RunSummary& summary);
/// Returns the JSON as readable text.
std::string sor_table(const nlohmann::ordered_json& json);
/// Returns "" if all threads learned the same conditions; otherwise the differences.
std::string sor_disagreement(const std::map<std::uint32_t, SorPart>& parts,
                             const paths::RunSummary& summary);

}  // namespace bench
