// SPDX-License-Identifier: Apache-2.0
// bench/collective/collective_times.hpp — how long collectives of a group take, beside their
// prices.
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
#include "groups/selection.hpp"
#include "paths/run/run_plan.hpp"
#include "runtime/wait.hpp"

namespace bench {

struct CollectiveOptions {
  std::string collectives;  ///< "broadcast,allreduce"
  std::string sizes = "8:1MiB";
  std::uint64_t iterations = 5;
  std::uint64_t warmup = 1;
  bool shows_all = false;
  bool checks = false;
  bool prices_only = false;
  bool overlaps = false;
  bool shares_arrays = false;  ///< all threads lend the same, of which nobody looks at values
  std::string schedule = "best";
  std::string links = {};  ///< a file of `paths measure`
  std::string operation = "sum";
  std::string root = "0";  ///< a rank, or "each"
  std::size_t window = 0;  ///< as of groups::Call
  std::size_t ports = 0;   ///< receiving ones, likewise
  std::string json;
};

/// All threads of a config do collectives of 64-bit integers, one size after the other, and take
/// the times. In each iteration they begin at one moment, which they have agreed on by the clock of
/// the machine or of the run; its time lasts until the last of them has ended. A size is that of
/// the vector, of gather, scatter, allgather, reduce_scatter and alltoall that of a block. With
/// "each" all threads take their turn as the root, as in the program of Karonis et al. 2002, and
/// figures are those of all of them. Where only prices are wanted nothing is sent; where arrays are
/// shared all is sent, but no values (groups::Call::has_values).
///
/// Sharing: one for all threads of a process.
class CollectiveTimes {
 public:
  explicit CollectiveTimes(CollectiveOptions options) : options_(std::move(options)) {}
  /// Throws std::invalid_argument for what options are wrong.
  void prepare(const paths::Plan& plan, const paths::RunOptions& run);
  void run(paths::Thread& thread);
  void finish(const paths::RunSummary& run);

 private:
  struct Row {
    collectives::Collective collective;
    std::uint64_t bytes = 0;
    std::vector<std::string> algorithms = {};  ///< by root
    std::vector<base::Nanos> times = {};       ///< as often for each root; none: only priced
    std::vector<double> overlapped = {};       ///< with as long a computation, in times of one
    std::vector<pricing::Price> prices = {};   ///< by root
    base::Nanos bound{0};                      ///< of several roots the mean
    base::Nanos price() const;                 ///< likewise
    std::string algorithm() const;             ///< of several roots what they have in common
    std::uint64_t wan(std::uint64_t pricing::Flow::*what) const;  ///< of all roots
  };
  class Arrays;
  void find_prices(collectives::Collective collective, std::uint64_t bytes);
  void measure(paths::Thread& thread, groups::Group& group, collectives::Collective collective,
               std::uint64_t bytes);
  base::Nanos time_one(paths::Thread& thread, groups::Group& group,
                       const std::function<void()>& work) const;
  static void compute(paths::Thread& thread, base::Nanos time);
  static base::Nanos agree(groups::Group& group, base::Nanos mine);
  static void check_operation(const std::string& name);
  /// The first root, and behind the last one.
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

  const CollectiveOptions options_;
  std::vector<collectives::Collective> collectives_;
  std::vector<std::uint64_t> sizes_;
  std::unique_ptr<pricing::Network> network_;
  std::unique_ptr<groups::Selector> selector_;  // where only prices are wanted, or a plan
  std::uint32_t participants_ = 0, threads_ = 0;
  std::optional<std::uint32_t> root_;  // none: each
  std::vector<Row> rows_;
  std::optional<Interruption> interruption_;  // in the process of thread 0
};

}  // namespace bench
