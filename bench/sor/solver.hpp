// SPDX-License-Identifier: Apache-2.0
// bench/sor/solver.hpp — one thread of the parallel solver
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

/// Settings shared by all threads of a run.
struct SorTask {
  DataSet data;
  double omega = 1;
  std::uint64_t iterations_max = 0;
  std::string collective, exchange;
  std::vector<RowRange> blocks;  ///< rows of each thread, indexed by rank
  std::vector<FarBorder> far_borders;
  HaloChoice halo;
  WorkCost cost;
  /// Declared duration of an iteration on each thread, indexed by rank. Empty if costs are not
  /// declared.
  std::vector<base::Nanos> iteration_times = {};
  bool keeps_changes = false, keeps_cells = false;
  /// Whether threads query hosts for their traffic between clusters. The queried hosts are those on
  /// the paths of the thread's border rows. The query is needed if each host is a process.
  bool asks_for_traffic = false;
  /// Function that rank 0 calls before each iteration and after a failure. The argument contains
  /// the durations of the iterations so far.
  std::function<void(const std::vector<base::Nanos>&)> watch = {};
};

/// A decision that a thread received, and the iteration to which it applies. With a relaxed
/// algorithm, this iteration can be earlier than the thread's last iteration.
struct SorDecision {
  std::uint64_t iteration = 0;  ///< index of the iteration, from 0
  bool is_stop = false;
};

/// Results of one thread.
struct SorPart {
  ThreadFigures figures = {};
  base::Nanos exchange{0};  ///< time spent waiting for border rows
  std::uint64_t iterations = 0;
  /// Number of the iteration whose result ended the run; the first iteration has the number 1.
  std::optional<std::uint64_t> stop_iteration = std::nullopt;
  std::uint64_t half_rows = 0, redundant_half_rows = 0;
  std::uint64_t halo = 0;  ///< halo depth: iterations until border rows are used
  RowRange rows = {};
  std::vector<base::Digest> row_digests = {};
  /// Decisions about the stop condition that rank 0 received; empty for other ranks.
  std::vector<SorDecision> decisions = {};
  /// Duration of each iteration of rank 0; empty for other ranks.
  std::vector<base::Nanos> durations = {};
  /// Thread's contribution in each iteration; empty unless keeps_changes.
  std::vector<double> changes = {};
  /// Cells of the thread's rows, row by row; empty unless keeps_cells.
  std::vector<double> cells = {};
  /// Traffic between clusters that the thread's border rows and the collective caused, keyed by
  /// sending host. Empty if the traffic was not queried. Only one thread of each host reports the
  /// traffic of the collective.
  std::map<std::uint32_t, paths::Traffic> exchange_wan = {}, collective_wan = {};
};

/// One thread's part of the solver. It ends when a result of the collective meets the stop
/// condition, or after `iterations_max` iterations.
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
