// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/compare.hpp — comparison of two runs with confidence intervals.
#pragma once
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "eventspace/analysis/report/fields.hpp"
#include "eventspace/analysis/report/report.hpp"

namespace eventspace {

/// Least change of a figure that counts as a difference: a share of the old value, and a number of
/// nanoseconds. The change must reach both limits, and its confidence interval must exclude 0.
inline constexpr double difference_share = 0.005;
inline constexpr double difference_nanos = 1000;
/// Probability that all confidence intervals of a comparison are correct at the same time. Each
/// interval is therefore wider than an interval for a single figure. Otherwise a comparison of
/// hundreds of equal figures would report that some of them differ.
inline constexpr double interval_share = 0.95;

/// One figure in two runs: its two means in nanoseconds, and a confidence interval for the change,
/// from `low` to `high`. `is_one` tells whether the change counts as a difference.
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

/// Time that a thread spent on average in one operation for one cause, in each of two runs.
struct PartDifference {
  std::string operation;
  std::string text;  ///< cause and place, as text
  std::int64_t before_nanos = 0;
  std::int64_t after_nanos = 0;
  std::int64_t change() const { return after_nanos - before_nanos; }
};

template <class Visitor>
void describe(Visitor& visit, const PartDifference& one) {
  visit.object("part_difference", "Part of the time of both runs.");
  visit.field("operation", one.operation, units::none,
              "Operation of the program during that time; empty between operations.");
  visit.field("text", one.text, units::none, "Cause in words.");
  visit.field("before_nanos", one.before_nanos, units::nanos, "The time in the first run.");
  visit.field("after_nanos", one.after_nanos, units::nanos, "The time in the second run.");
  visit.field("change_nanos", one.change(), units::nanos, "Second time less the first.");
}

/// Comparison of two runs as a whole.
struct RunDifference {
  std::int64_t before_nanos = 0;
  std::int64_t after_nanos = 0;
  std::uint64_t iterations_before = 0;
  std::uint64_t iterations_after = 0;
  std::optional<Difference> iteration;  ///< nullopt if a run has too few iterations
  bool has_equal_cuts = true;  ///< whether the iterations of both runs end at the same operation
  std::vector<PartDifference> parts;  ///< largest change first; their sum is the change of the run
  std::int64_t change() const { return after_nanos - before_nanos; }
};

template <class Visitor>
void describe(Visitor& visit, const RunDifference& run) {
  visit.object("run_difference", "The runs as a whole.");
  visit.field("before_nanos", run.before_nanos, units::nanos, "Time of the first run.");
  visit.field("after_nanos", run.after_nanos, units::nanos, "Time of the second run.");
  visit.field("change_nanos", run.change(), units::nanos, "Second time less the first.");
  visit.field("iterations_before", run.iterations_before, units::iterations,
              "Iterations of the first run.");
  visit.field("iterations_after", run.iterations_after, units::iterations,
              "Iterations of the second run.");
  visit.field("iteration", run.iteration.value_or(Difference{}), units::none,
              "Time of an iteration of the program.",
              left_out(!run.iteration, "if a run has too few iterations"));
  visit.field("equal_cuts", run.has_equal_cuts, units::none,
              "True if the iterations of both runs are cut at the same operation.");
  visit.field("parts", run.parts, units::none,
              "Parts of the time of the mean thread, largest change first. Their changes add up to "
              "that of the run.");
}

struct Comparison {
  RunDifference run;
  double least_share = difference_share;
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
  visit.field("run", comparison.run, units::none, "The runs as a whole.");
  visit.field("least_share_called_a_difference", comparison.least_share, units::ratio,
              "Least change that is called a difference, as a share of the first mean.");
  visit.field("differences", comparison.differences, units::count, "Figures that differ.");
  visit.field("figures", comparison.figures, units::none,
              "Figures of both runs, differences first, the greatest before others.");
  visit.field("too_short", comparison.too_short, units::none,
              "Figures with too few rounds for a statement.");
  visit.field("only_before", comparison.only_before, units::none, "Figures of the first run only.");
  visit.field("only_after", comparison.only_after, units::none, "Figures of the second run only.");
}

/// Compares the series of two reports. The confidence intervals are computed with estimate_mean().
/// The seed makes the result repeatable. `least_share` replaces difference_share.
Comparison compare(const Report& before, const Report& after, double least_share = difference_share,
                   std::uint64_t seed = 1);

/// Returns whether the mean iteration became longer by more than `share` of its old time, and not
/// by chance. Returns nullopt if a run has too few iterations to decide.
std::optional<bool> is_slower(const Comparison& comparison, double share);

nlohmann::ordered_json to_json(const Comparison& comparison);
/// Prints a comparison for a terminal. `rows` limits the table; 0 = as many as fit on a screen.
std::string to_text(const Comparison& comparison, std::size_t rows = 0);

}  // namespace eventspace
