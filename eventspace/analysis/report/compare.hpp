// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/compare.hpp — comparison of two runs with confidence intervals.
#pragma once
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "eventspace/analysis/report/fields.hpp"
#include "eventspace/analysis/report/report.hpp"

namespace eventspace {

/// Thresholds above which a change of a figure is a difference. The change must be at least this
/// share of the old value, and at least this many nanoseconds. In addition, its confidence
/// interval must exclude 0.
inline constexpr double difference_share = 0.005;
inline constexpr double difference_nanos = 1000;
/// Probability that all confidence intervals of a comparison are correct together. Each interval
/// is wider than for a single figure. Otherwise, some of hundreds of equal figures would seem to
/// differ.
inline constexpr double interval_share = 0.95;

/// One figure in two runs: means in nanoseconds, and a confidence interval of the change.
struct Difference {
  std::string figure;
  std::string what;
  double before = 0;
  double after = 0;
  double low = 0;
  double high = 0;
  bool is_one = false;
  double change() const { return after - before; }
};

template <class Visitor>
void describe(Visitor& visit, const Difference& one) {
  visit.object("difference", "One figure in both runs.");
  visit.field("figure", one.figure, units::none,
              "Kind of figure: `iteration`, `computation`, `wait`, `travel` and so on.");
  visit.field("of", one.what, units::none, "Thread, wrapper or collective that has the figure.");
  visit.field("before_nanos", one.before, units::nanos, "Mean in the first run.");
  visit.field("after_nanos", one.after, units::nanos, "Mean in the second run.");
  visit.field("change_nanos", one.change(), units::nanos, "Second mean less the first.");
  visit.field("interval_nanos", std::tuple(one.low, one.high), units::nanos,
              "Confidence interval of the change.");
  visit.field("is_difference", one.is_one, units::none,
              "True if the interval excludes 0 and the change is large enough.");
}

struct Comparison {
  std::vector<Difference> figures;
  std::size_t differences = 0;
  std::vector<std::string> too_short;
  std::vector<std::string> only_before;
  std::vector<std::string> only_after;
};

template <class Visitor>
void describe(Visitor& visit, const Comparison& comparison) {
  visit.object("comparison", "Differences of two runs: `paths analyze --compare --json`.");
  visit.field("format", Constant{"paths-comparison"}, units::none, "Name of the format.");
  visit.field("version", Constant{1}, units::none, "Version of the format.");
  visit.field("intervals_hold_together_in_share", interval_share, units::ratio,
              "Share of comparisons in which all intervals hold together.");
  visit.field("least_share_called_a_difference", difference_share, units::ratio,
              "Least change that is called a difference, as a share of the first mean.");
  visit.field("differences", comparison.differences, units::count, "Figures that differ.");
  visit.field("figures", comparison.figures, units::none,
              "Figures of both runs, differences first, the greatest before others.");
  visit.field("too_short", comparison.too_short, units::none,
              "Figures with too few rounds for a statement.");
  visit.field("only_before", comparison.only_before, units::none, "Figures of the first run only.");
  visit.field("only_after", comparison.only_after, units::none, "Figures of the second run only.");
}

/// Compares the series of two reports. Iterations depend on each other, so consecutive rounds are
/// resampled together. The seed makes the result repeatable.
///
/// Paper: Politis and Romano 1992, circular block bootstrap.
Comparison compare(const Report& before, const Report& after, std::uint64_t seed = 1);

nlohmann::ordered_json to_json(const Comparison& comparison);
/// Prints a comparison for a terminal. `rows` limits the table; 0 = as many as fit on a screen.
std::string to_text(const Comparison& comparison, std::size_t rows = 0);

}  // namespace eventspace
