// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/conditional.hpp — figures of condition checks (wrappers that test a
// condition).
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "eventspace/analysis/input/rounds.hpp"
#include "eventspace/analysis/input/shape.hpp"
#include "eventspace/analysis/metrics/figures.hpp"
#include "eventspace/analysis/report/distribution.hpp"
#include "eventspace/analysis/report/report.hpp"
#include "eventspace/record.hpp"

namespace eventspace {

/// Measures how condition checks obtained the values of other clusters, and how long each decision
/// took.
class Conditional {
 public:
  Conditional(const Shape& shape, std::size_t exact_max);
  void add_cache_read(const EventRecord& record);
  void add_prefetch(const EventRecord& record);
  void add(const Round& round);
  void report(Report& report, const Figures& figures) const;
  /// Calls `visit` for each wait of a condition check for the value of another cluster. Waits in
  /// rounds whose critical path is not known are left out. The arguments are the round's sequence
  /// and the time of the wait, which is limited to the one-way time of the value.
  template <typename Visit>
  void for_each_wan_wait(std::uint32_t tree, const Figures& figures, const Visit& visit) const {
    for (const Check& check : checks_) {
      if (check.tree != tree) continue;
      std::vector<std::int64_t> one_ways;
      for (const Remote& remote : check.remotes) one_ways.push_back(one_way_of(remote, figures));
      check.awaited.for_each([&](std::uint64_t sequence, const Awaited& awaited) {
        const RoundNote* note = figures.note(tree, sequence);
        if (awaited.slot == none || note == nullptr || note->critical_leaf == none) return;
        const std::int64_t one_way = one_ways[awaited.slot];
        if (one_way > 0) visit(sequence, std::min(one_way, awaited.nanos));
      });
    }
  }

 private:
  struct Remote {
    explicit Remote(std::size_t exact)
        : wait(exact), waited(exact), ahead(exact), prefetch(exact) {}
    Distribution wait;  // waits for all values that the check used
    Blocks waits;
    Distribution waited;  // waits for values that arrived after the check wanted them
    Distribution ahead;
    Distribution prefetch;
    std::uint64_t unused = 0;
    std::uint64_t cached = 0;
    std::vector<std::uint64_t> by_place;
    std::uint32_t prefetch_path = none;
  };
  struct Value {  // a value of another cluster that a round used
    std::int64_t up_nanos = 0;
    std::uint32_t slot = 0;
    bool is_cached = false;
  };
  struct Together {
    std::uint64_t operations = 0;
    std::uint64_t all_cached = 0;
  };
  /// The last value for which a round waited. `slot` is the index of the value's cluster in
  /// Structure::Wrapper::combines; none if the round waited for no value. `nanos` is the time that
  /// the decision took.
  struct Awaited {
    std::uint32_t slot = none;
    std::int64_t nanos = 0;
  };
  /// Sums over consecutive rounds. In a long run, a row covers more rounds than in a short run.
  struct Row {
    std::uint64_t rounds = 0;
    std::int64_t sum = 0;
    std::int64_t max = 0;
    std::uint64_t needing = 0;
    std::uint32_t needed_max = 0;
  };
  struct Check {
    explicit Check(std::size_t exact) : time_to_decide(exact) {}
    std::uint32_t wrapper = 0;
    std::uint32_t tree = none;
    std::uint64_t lag = 0;        // a round returns the result of `lag` rounds before
    std::vector<Remote> remotes;  // indexed like Structure::Wrapper::combines
    // Values of other clusters that each undecided round has used so far, keyed by sequence.
    std::unordered_map<std::uint64_t, std::vector<Value>> used;
    // Counts of the rounds that used values of the same other clusters, keyed by the slots of these
    // values.
    std::map<std::vector<std::uint32_t>, Together> together;
    std::uint64_t other_together = 0;
    Notes<Awaited> awaited;
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
  static void add_used(Check& check, std::vector<Value>& used);
  static void add_row(Check& check, std::uint64_t sequence, std::int64_t nanos,
                      std::uint32_t needed);
  bool is_own(const Check& check, std::size_t slot) const;
  static std::int64_t one_way_of(const Remote& remote, const Figures& figures);
  ConditionalReport report_check(const Check& check, const Figures& figures) const;
  std::vector<ConditionalReport::Together> report_together(const Check& check) const;
  static ConditionalReport::Remote report_remote(const Remote& remote, std::int64_t one_way);

  const Shape& shape_;
  std::vector<Check> checks_;
  std::unordered_map<std::uint32_t, std::uint32_t> check_of_wrapper_;
  std::unordered_map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> prefetch_of_stage_;
  // Condition checks, indexed by tree. Each pair is the number of the check's Probe and the index
  // in checks_.
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> probes_;
};

}  // namespace eventspace
