// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/compare.hpp — what changed between two runs, and what only seems to
// have.
#pragma once
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "eventspace/analysis/report/report.hpp"

namespace eventspace {

/// A difference is reported if its interval excludes 0 and it is at least this share of the old
/// value and at least this long.
inline constexpr double difference_share = 0.005;
inline constexpr double difference_nanos = 1000;
/// All intervals hold together in this many of 100 comparisons. They are wider than for a single
/// figure: among hundreds, some would always seem to differ.
inline constexpr double interval_share = 0.95;

/// One figure in two runs: means in nanoseconds, and an interval for what was added.
struct Difference {
  std::string figure;  ///< "iteration", "computation", "wait", "travel"...
  std::string what;    ///< whose
  double before = 0;
  double after = 0;
  double low = 0;
  double high = 0;
  bool is_one = false;
  double change() const { return after - before; }
};

struct Comparison {
  std::vector<Difference> figures;  ///< differences first, the greatest before others
  std::size_t differences = 0;
  /// Figures with too few rounds for a statement, or present in only one run.
  std::vector<std::string> too_short;
  std::vector<std::string> only_before;
  std::vector<std::string> only_after;
};

/// Iterations depend on each other, so runs of consecutive rounds are resampled together (circular
/// block bootstrap, Politis and Romano 1992). Repeatable from the seed.
Comparison compare(const Report& before, const Report& after, std::uint64_t seed = 1);

nlohmann::ordered_json to_json(const Comparison& comparison);
/// For a terminal; 0 rows: as many as fit on a screen.
std::string to_text(const Comparison& comparison, std::size_t rows = 0);

}  // namespace eventspace
