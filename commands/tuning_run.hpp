// SPDX-License-Identifier: Apache-2.0
// commands/tuning_run.hpp — search for the fastest schedules by running them on a config's hosts.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/tuner/decision_rows.hpp"
#include "collectives/tuner/schedules.hpp"
#include "collectives/tuner/search.hpp"
#include "groups/group.hpp"
#include "groups/selection.hpp"
#include "paths/run/run_plan.hpp"

namespace commands {

struct TuneOptions {
  std::string output;                    ///< file of the table of decisions
  std::vector<std::string> collectives;  ///< names; empty = all but the barrier
  std::string sizes = "8B:1MiB";         ///< one size, or the first and the last
  std::string search = "race";           ///< name of a search
  std::uint64_t seed = 1;
};

/// Tunes a table of decisions. For each collective and size, the first host searches among all
/// schedules and tells the other hosts which one to run next. One thread of each host takes part.
/// On the virtual clock each schedule is run once, because its time is exact.
///
/// Each finished size is written to `output` + ".samples" at once, with all its samples. A later
/// run with the same config, clock and search continues there.
///
/// Thread-safe: one object serves all threads of a process.
/// Paper: Vadhiyar, Fagg and Dongarra 2004.
class TuningRun {
 public:
  explicit TuningRun(TuneOptions options) : options_(std::move(options)) {}
  ~TuningRun();

  /// Throws: std::invalid_argument for wrong options or a single host.
  void check(const paths::Plan& plan);
  /// Reads the options, the old table and the old samples. Prints the estimated cost.
  /// Throws: std::invalid_argument for wrong options or a single host; ConfigError for a wrong old
  ///         table; std::runtime_error if the output cannot be written.
  void prepare(const paths::Plan& plan, const paths::RunOptions& run);
  void run(paths::Thread& thread);
  /// On the first host, writes the table and prints what it would have put in place of pinned rows.
  /// Throws: std::runtime_error if no size could be tuned or the table cannot be written.
  void finish(const paths::RunSummary& run);

 private:
  /// A collective with a size, and the result of its search.
  struct Cell {
    collectives::Collective collective = collectives::Collective::allreduce;
    tuner::Bytes bytes = 0;
    std::optional<tuner::Decision> choice;
    std::string key() const;
  };
  /// What all members run next.
  struct Request {
    collectives::Collective collective = collectives::Collective::barrier;
    std::uint64_t count = 0;
    std::string schedule;  ///< "" = the run ends
  };

  void read_samples();
  void print_estimate(bool is_virtual);
  collectives::CollectiveSpec spec_of(const Cell& cell) const;
  void tune(Cell& cell, paths::Thread& thread, groups::Group& group);
  void keep(Cell& cell, const tuner::Schedules& schedules, const tuner::Outcome& outcome);
  static void tell(groups::Group& group, const Request& request);
  static Request hear(groups::Group& group);
  std::optional<base::Nanos> run_once(paths::Thread& thread, groups::Group& group,
                                      const Request& request) const;
  std::vector<tuner::DecisionSection> sections() const;

  const TuneOptions options_;
  const tuner::Search* search_ = nullptr;
  bool is_exact_ = false;
  bool is_first_ = false;
  std::vector<std::uint32_t> members_;  // ranks of the first threads of all hosts
  std::unique_ptr<groups::Selector> selector_;
  std::shared_ptr<const tuner::DecisionTable> old_;
  std::vector<Cell> cells_;
  std::string run_;                // config, clock and search, for the samples
  std::int64_t made_seconds_ = 0;  // UTC; only on the steady clock
};

}  // namespace commands
