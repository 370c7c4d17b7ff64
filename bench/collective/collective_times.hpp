// SPDX-License-Identifier: Apache-2.0
// bench/collective/collective_times.hpp — measured and predicted times of collectives of a group
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/support/progress.hpp"
#include "collectives/cost/evaluator.hpp"
#include "groups/group.hpp"
#include "groups/selection/selection.hpp"
#include "paths/run/run_plan.hpp"
#include "runtime/wait.hpp"

namespace bench {

struct CollectiveOptions {
  std::string collectives;  ///< names separated by commas, such as "broadcast,allreduce"
  std::string sizes = "8:1MiB";
  std::uint64_t iterations = 5;
  std::uint64_t warmup = 1;
  /// Number of consecutive calls in an iteration. The time of the iteration is the mean time of one
  /// of these calls.
  std::uint64_t consecutive = 1;
  bool shows_all = false;
  bool checks = false;
  bool prices_only = false;
  bool overlaps = false;
  /// Whether all threads use the same arrays; results are then undefined.
  bool shares_arrays = false;
  std::string schedule;  ///< "" = `tuned` if the config has a table of decisions, otherwise `best`
  std::string links = {};  ///< file of measured links that `paths measure` wrote
  std::string operation = "sum";
  std::string root = "0";  ///< rank, or "each"
  std::size_t window = 0;  ///< limit of unfinished steps, as in groups::Call
  std::size_t ports = 0;   ///< number of receiving ports, as in groups::Call
  std::string json;
};

/// All threads of a config run collectives of 64-bit integers, one size after the other, and
/// measure the times.
///
/// In each iteration the members agree on a start time, on the virtual clock of the run or on the
/// clock of the machine. The measured time lasts from the start time until the last member has
/// ended. The size of a collective is the size of its vector. For gather, scatter, allgather,
/// reduce_scatter and alltoall it is the size of one block.
///
/// With root "each", every thread is the root in turn, as in the program of Karonis et al. 2002,
/// and the figures cover the calls of all roots. With `prices_only` times are predicted and nothing
/// is sent. With `shares_arrays` messages have their full length, but their contents are undefined
/// and not checked (groups::Call::has_values).
///
/// Thread-safe: one object serves all threads of a process.
class CollectiveTimes {
 public:
  explicit CollectiveTimes(CollectiveOptions options) : options_(std::move(options)) {}
  /// Throws std::invalid_argument if options are wrong.
  void prepare(const paths::Plan& plan, const paths::RunOptions& run);
  void run(paths::Thread& thread);
  void finish(const paths::RunSummary& run);

 private:
  struct Row {
    collectives::Collective collective;
    std::uint64_t bytes = 0;
    std::vector<std::string> algorithms = {};  ///< names of the schedules, indexed by root
    /// Measured times of all roots, the same number for each root; empty with prices_only.
    std::vector<base::Nanos> times = {};
    /// For each iteration, the time of a call during a computation, divided by the time of a call
    /// alone.
    std::vector<double> overlapped = {};
    std::vector<pricing::Price> prices = {};  ///< predicted times, indexed by root
    base::Nanos bound{0};                     ///< lower bound; the mean over roots
    base::Nanos price() const;                ///< predicted time; the mean over roots
    std::string algorithm() const;            ///< name, or the number of names if roots differ
    /// Returns the total of one kind of traffic between clusters, over all roots.
    std::uint64_t wan(std::uint64_t pricing::Flow::*what) const;
  };
  class Arrays;
  void find_prices(collectives::Collective collective, std::uint64_t bytes);
  void measure(paths::Thread& thread, groups::Group& group, collectives::Collective collective,
               std::uint64_t bytes);
  static void compute(paths::Thread& thread, base::Nanos time);
  static void check_operation(const std::string& name);
  /// Returns the ranks that are the root in turn: the first of them, and the last of them + 1.
  std::pair<std::uint32_t, std::uint32_t> roots(collectives::Collective collective) const;
  std::shared_ptr<const groups::Selection> choose(collectives::Collective collective,
                                                  std::uint64_t bytes, std::uint32_t root) const;
  void add_price(Row& row, std::uint32_t root) const;
  void measure_or_end(paths::Thread& thread, groups::Group& group,
                      collectives::Collective collective, std::uint64_t bytes);
  void show(Row row);
  void end_if_asked();
  nlohmann::ordered_json json_of_root(const Row& row, std::size_t root) const;
  void print_head(collectives::Collective collective, std::uint32_t members) const;
  void print(const Row& row) const;
  nlohmann::ordered_json json_of(const Row& row) const;

  CollectiveOptions options_;
  std::vector<collectives::Collective> collectives_;
  std::vector<std::uint64_t> sizes_;
  std::unique_ptr<pricing::Network> network_;
  // nullptr if neither predicted times nor a planner are needed.
  std::unique_ptr<groups::Selector> selector_;
  std::uint32_t participants_ = 0, threads_ = 0;
  std::optional<std::uint32_t> root_;  // nullopt = each thread in turn
  std::vector<Row> rows_;
  std::optional<Interruption> interruption_;  // exists only in the process of thread 0
};

}  // namespace bench
