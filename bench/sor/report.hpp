// SPDX-License-Identifier: Apache-2.0
// bench/sor/report.hpp — what solving took, as JSON and as a table.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/sor/solver.hpp"
#include "bench/support/figures.hpp"
#include "paths/run/program.hpp"

namespace bench {

/// What of a run is not in the parts.
struct SorRun {
  std::string data;
  std::uint64_t data_seed;
  const SorTask& task;
  const Collective& collective;
};

/// All but `provenance`, the same bytes for the same run of a virtual clock with declared costs:
///
/// iterations           that the grid has had; stop_iteration: the one whose sum of changes said
///                      stop, counted from 1, null if none did
/// halo_iterations      for how many a border between clusters may be on its way: the most there is
/// ms_per_iteration, compute_ms, allreduce_ms, clusters, hosts   as noise_allreduce defines them
/// exchange_ms          waiting for border rows: mean over threads and iterations
/// compute_ms_by_thread least and most of what a thread computed in a mean iteration
/// wan                  as noise_allreduce defines it: of the collective and the exchange together,
///                      and of each
/// redundant_rows_share rows relaxed for neighbours of other clusters, over the threads' own; most:
///                      of one thread
/// grid_digest          of the whole grid, however it was divided; null where parts are missing
nlohmann::ordered_json sor_figures(const SorRun& run, const std::map<std::uint32_t, SorPart>& parts,
                                   const paths::RunSummary& summary);
/// The JSON as a person reads it.
std::string sor_table(const nlohmann::ordered_json& json);
/// Empty when all threads learnt the same conditions, otherwise who learnt what.
std::string sor_disagreement(const std::map<std::uint32_t, SorPart>& parts,
                             const paths::RunSummary& summary);

}  // namespace bench
