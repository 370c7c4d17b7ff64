// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/conditional.hpp — how condition checks came by the values they needed.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "eventspace/analysis/distribution.hpp"
#include "eventspace/analysis/figures.hpp"
#include "eventspace/analysis/report.hpp"
#include "eventspace/analysis/rounds.hpp"
#include "eventspace/analysis/shape.hpp"
#include "eventspace/record.hpp"

namespace eventspace {

class Conditional {
 public:
  Conditional(const Shape& shape, std::size_t exact_max);
  void add_cache_read(const EventRecord& record);
  void add_prefetch(const EventRecord& record);
  void add(const Round& round);
  void report(Report& report, const Figures& figures) const;

 private:
  struct Remote {
    explicit Remote(std::size_t exact)
        : wait(exact), waited(exact), ahead(exact), prefetch(exact) {}
    Distribution wait;  // of all that were used
    Blocks waits;
    Distribution waited;  // of those that had not come before
    Distribution ahead;
    Distribution prefetch;
    std::uint64_t unused = 0;
    std::uint64_t cached = 0;
    std::uint64_t first = 0;
    std::uint32_t prefetch_path = none;
  };
  struct Used {  // in a round, so far
    std::uint32_t values = 0;
    std::uint32_t first = none;
    std::int64_t first_up = 0;
  };
  /// Sums of as many rounds as make at most as many rows as are kept.
  struct Row {
    std::uint64_t rounds = 0;
    std::int64_t sum = 0;
    std::int64_t max = 0;
  };
  struct Check {
    explicit Check(std::size_t exact) : time_to_decide(exact) {}
    std::uint32_t wrapper = 0;
    std::uint32_t tree = none;
    std::vector<Remote> remotes;  // by place among those combined
    std::unordered_map<std::uint64_t, Used> used;
    std::vector<std::uint64_t> by_values;
    std::uint64_t operations = 0;
    std::uint64_t proved = 0;
    Distribution time_to_decide;
    Blocks times_to_decide;
    std::vector<Row> rows;
    std::uint64_t rounds_per_row = 1;
  };

  void find_checks(std::size_t exact_max);
  void find_prefetches();
  Check* check_at(std::uint32_t stage);
  void add_round(Check& check, const Round& round, const Pass& here, const Pass* below);
  static void add_row(Check& check, std::uint64_t sequence, std::int64_t nanos);
  static ConditionalReport::Remote report_remote(const Remote& remote, std::int64_t one_way);

  const Shape& shape_;
  std::vector<Check> checks_;
  std::unordered_map<std::uint32_t, std::uint32_t> check_of_wrapper_;
  std::unordered_map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> prefetch_of_stage_;
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> lanes_;  // by tree: lane, check
};

}  // namespace eventspace
