// SPDX-License-Identifier: Apache-2.0
// commands/tuning_run.hpp — search for the fastest schedules by running them on a config's hosts.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/tuner/decision_table.hpp"
#include "collectives/tuner/guidelines.hpp"
#include "collectives/tuner/schedules.hpp"
#include "collectives/tuner/search.hpp"
#include "collectives/tuner/tables.hpp"
#include "commands/requested_runs.hpp"
#include "commands/run_log.hpp"
#include "groups/selection/selection.hpp"
#include "paths/run/run_plan.hpp"

namespace commands {

struct TuneOptions {
  std::string output;  ///< file for the table of decisions (fastest schedule by size)
  std::vector<std::string> collectives;  ///< names; empty = all except the barrier
  std::string sizes = "8B:1MiB";         ///< one size, or the least and the largest size
  /// Collectives with sizes in bytes, such as "allreduce:64". If the list is not empty, only the
  /// cells of the list are tuned, and `collectives` and `sizes` are ignored. Collectives are tuned
  /// in the order of their first cells.
  std::vector<std::string> cells;
  std::string search = "race";  ///< name of a search
  /// Schedules among which the search chooses: "all", or "trees" for tuner::families_of_paper().
  std::string candidates = "all";
  std::string under;  ///< program that runs next to each host, with its arguments; "" = none
  std::uint64_t seed = 1;
  /// Whether to search at every size, and also on the first 2, 4, 8 and so on hosts. This is the
  /// procedure of the paper.
  bool has_phases = false;
};

/// Makes a table of decisions, one collective after the other. The first host searches for the
/// fastest schedules and tells the other hosts which schedule to run next. One thread of each host
/// takes part. On the virtual clock, each schedule is run once, because times on this clock are
/// exact.
///
/// The time of each run is written to `output` + ".samples" immediately. If a tune is interrupted,
/// a later tune with the same config, clock and program next to the hosts uses these times instead
/// of repeating the runs.
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
  /// On the first host, writes the table. Keeps the pinned rows of the old table, and prints their
  /// positions.
  /// Throws: std::runtime_error if no size could be tuned or the table cannot be written.
  void finish(const paths::RunSummary& run);

 private:
  struct Tuned {
    tuner::DecisionSection section;  ///< without rows
    tuner::Table table;
  };

  void read_cells();
  void keep_collectives_of_trees();
  base::Nanos time_around_run() const;
  void print_estimate();
  std::vector<tuner::Bytes> sizes_of(collectives::Collective collective) const;
  collectives::CollectiveSpec spec_of(collectives::Collective collective, tuner::Bytes bytes) const;
  std::vector<pricing::Family> families_of(collectives::Collective collective,
                                           tuner::Bytes bytes) const;
  tuner::Schedules schedules_of(collectives::Collective collective, tuner::Bytes bytes) const;
  tuner::Table tune(collectives::Collective collective, RequestedRuns& runs);
  std::optional<base::Nanos> time_of(const RunRequest& request, RequestedRuns& runs);
  std::vector<tuner::Row> old_rows(collectives::Collective collective) const;
  void print(const Tuned& tuned) const;
  std::vector<tuner::Violation> violations(const groups::Selector& of) const;
  tuner::DecisionSection section_of(collectives::Collective collective) const;
  std::vector<tuner::Decision> rows_of(const tuner::Table& table) const;
  std::vector<tuner::DecisionSection> sections() const;

  const TuneOptions options_;
  const tuner::Search* search_ = nullptr;
  bool is_exact_ = false;
  bool is_first_ = false;
  std::vector<std::uint32_t> hosts_;  // indexes of the hosts that take part
  /// One for each group of hosts on which schedules are tuned; the last one is for all hosts.
  std::vector<std::unique_ptr<groups::Selector>> selectors_;
  const groups::Selector* selector_ = nullptr;  // the one of the group that is tuned now
  std::shared_ptr<const tuner::DecisionTable> old_;
  std::vector<collectives::Collective> collectives_;
  std::vector<tuner::Bytes> sizes_;  // sizes to tune for collectives that are not in cells_
  std::map<collectives::Collective, std::vector<tuner::Bytes>> cells_;  // sizes in ascending order
  std::vector<Tuned> tuned_;
  std::unique_ptr<RunLog> log_;  // times of all runs; nullptr except on the first host
  // UTC time at which the run began, in seconds since 1970. Set only on the steady clock.
  std::int64_t made_seconds_ = 0;
};

}  // namespace commands
