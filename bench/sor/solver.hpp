// SPDX-License-Identifier: Apache-2.0
// bench/sor/solver.hpp — one thread's share of solving.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/digest.hpp"
#include "bench/sor/block.hpp"
#include "bench/sor/halo.hpp"
#include "bench/sor/neighbour.hpp"
#include "bench/sor/work.hpp"
#include "bench/support/figures.hpp"

namespace bench {

/// What all threads of a run know.
struct SorTask {
  DataSet data;
  double omega = 1;
  std::uint64_t iterations_max = 0;
  std::string collective, exchange;
  std::vector<RowRange> blocks;  ///< by rank
  std::vector<FarBorder> far_borders;
  HaloChoice halo;
  WorkCost cost;
  /// What each thread's rows take, where that is declared.
  std::vector<base::Nanos> iteration_times = {};
  bool keeps_changes = false, keeps_cells = false;
  bool asks_for_traffic = false;  ///< of the hosts its borders cross, which are other processes
  /// Rank 0 calls it before each iteration, and when one fails, with what those so far took.
  std::function<void(const std::vector<base::Nanos>&)> watch = {};
};

/// What a thread learnt of the condition, of which iteration: under a relaxation an older one than
/// the last it did.
struct SorDecision {
  std::uint64_t iteration = 0;  ///< counted from 0
  bool is_stop = false;
};

/// What one thread has done.
struct SorPart {
  ThreadFigures figures = {};
  base::Nanos exchange{0};  ///< waiting for border rows
  std::uint64_t iterations = 0;
  std::optional<std::uint64_t> stop_iteration = std::nullopt;  ///< counted from 1
  std::uint64_t half_rows = 0, redundant_half_rows = 0;
  std::uint64_t halo = 0;  ///< for how many iterations a border may be on its way
  RowRange rows = {};
  std::vector<base::Digest> row_digests = {};
  std::vector<SorDecision> decisions = {};  ///< of rank 0
  std::vector<base::Nanos> durations = {};  ///< of rank 0, of each iteration
  std::vector<double> changes = {};         ///< if kept: what it contributed
  std::vector<double> cells = {};           ///< if kept: row after row
  /// If asked for, by host: what its borders sent over links between clusters; and, of one thread
  /// of a host, what the collective did.
  std::map<std::uint32_t, paths::Traffic> exchange_wan = {}, collective_wan = {};
};

/// Solves with the other threads: until a result says stop, or so many iterations are done.
class SorThread {
 public:
  SorThread(paths::Thread& thread, const SorTask& task);
  SorPart solve();

 private:
  void meet_neighbour(bool is_above);
  std::unique_ptr<Neighbour> make_neighbour(RowChannel& channel, bool is_above);
  HaloDepth depth_of(const FarBorder& border, RowChannel& channel);
  base::Nanos measured_iteration();
  void iterate(std::uint64_t iteration);
  void exchange(std::uint64_t sweep, bool asks);
  bool reduce(SorPart& part);
  void finish(SorPart& part);

  struct Side {
    std::unique_ptr<RowChannel> channel;
    std::unique_ptr<Neighbour> neighbour;
    std::size_t our_row, their_row;
  };

  paths::Thread& thread_;
  const SorTask& task_;
  const RowRange rows_;
  Block block_;
  Work work_;
  paths::Path& sum_;
  std::vector<Side> sides_;
  std::uint64_t halo_ = 0;
  base::RunningDigest conditions_;
};

}  // namespace bench
