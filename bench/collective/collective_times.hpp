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

#include "bench/collective/collective_options.hpp"
#include "bench/collective/times_row.hpp"
#include "bench/support/progress.hpp"
#include "collectives/cost/evaluator.hpp"
#include "groups/group.hpp"
#include "groups/selection/selection.hpp"
#include "paths/run/run_plan.hpp"
#include "runtime/wait.hpp"

namespace bench {

/// Measures collectives of 64-bit integers, one size after another. All threads of the config take
/// part.
///
/// In each iteration the members agree on a start time. It is a time on the virtual clock of the
/// run or on the clock of the machine. The measured time lasts from the start time until the last
/// member has ended. The size of a collective is the size of its vector. For gather, scatter,
/// allgather, reduce_scatter and alltoall, it is the size of one block.
///
/// With root "each", every thread is the root in turn, as in the program of Karonis et al. 2002.
/// The figures then cover the calls of all roots. With `prices_only`, times are predicted and
/// nothing is sent. With `shares_arrays` messages have their full length, but their contents are
/// undefined and not checked (groups::Call::has_values).
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
  void find_prices(collectives::Collective collective, std::uint64_t bytes);
  void measure(paths::Thread& thread, groups::Group& group, collectives::Collective collective,
               std::uint64_t bytes);
  static void check_operation(const std::string& name);
  /// Returns the range of ranks that are the root in turn, as a pair: first rank, last rank + 1.
  std::pair<std::uint32_t, std::uint32_t> roots(collectives::Collective collective) const;
  std::shared_ptr<const groups::Selection> choose(collectives::Collective collective,
                                                  std::uint64_t bytes, std::uint32_t root) const;
  void add_price(TimesRow& row, std::uint32_t root) const;
  void measure_or_end(paths::Thread& thread, groups::Group& group,
                      collectives::Collective collective, std::uint64_t bytes);
  void show(TimesRow row);
  void end_if_asked();

  CollectiveOptions options_;
  std::vector<collectives::Collective> collectives_;
  std::vector<std::uint64_t> sizes_;
  std::unique_ptr<pricing::Network> network_;
  // nullptr if neither predicted times nor a planner are needed.
  std::unique_ptr<groups::Selector> selector_;
  std::uint32_t participants_ = 0, threads_ = 0;
  std::optional<std::uint32_t> root_;  // nullopt = each thread in turn
  std::vector<TimesRow> rows_;
  std::optional<Interruption> interruption_;  // exists only in the process of thread 0
};

}  // namespace bench
