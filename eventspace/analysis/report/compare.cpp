// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/compare.cpp — comparison of two runs with confidence intervals.
#include "eventspace/analysis/report/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <utility>

#include "eventspace/analysis/report/bootstrap.hpp"
#include "eventspace/analysis/report/units.hpp"
#include "eventspace/analysis/report/visible_text.hpp"

namespace eventspace {
namespace {

constexpr std::size_t rows_of_a_screen = 20;
constexpr const char* outside_of_threads = "before threads began or after they ended (mean)";

using Random = std::mt19937_64;

Difference compare_rows(const BlockRows& before, const BlockRows& after, double outside,
                        double least_share, Random& random) {
  const MeanEstimate old_mean = estimate_mean(before, random);
  const MeanEstimate new_mean = estimate_mean(after, random);
  const MeanEstimate change = difference_of(new_mean, old_mean);
  Difference one;
  one.before = old_mean.mean;
  one.after = new_mean.mean;
  const double reach = change.deviation * student_quantile(outside, change.freedom);
  one.low = one.change() - reach;
  one.high = one.change() + reach;
  const double least = std::max(difference_nanos, least_share * std::abs(one.before));
  one.is_one = (one.low > 0 || one.high < 0) && std::abs(one.change()) >= least;
  return one;
}

/// Returns the series of a report, keyed by figure and object. If several series have the same key,
/// a number is added to the key of each series except the first.
std::map<std::string, const Series*> by_name(const Report& report) {
  std::map<std::string, const Series*> named;
  for (const Series& series : report.series) {
    if (series.rows.empty()) continue;
    const std::string name = series.figure + " of " + series.what;
    std::string unique = name;
    for (int number = 2; !named.emplace(unique, &series).second; ++number)
      unique = fmt::format("{} ({})", name, number);
  }
  return named;
}

/// Parts of a thread's mean time, keyed by operation and by the text that names the cause.
using PartsByName = std::map<std::pair<std::string, std::string>, PartDifference>;

/// Adds the parts of a thread's mean time in a run to the members `nanos` of `parts`. The part of
/// the run's time that they do not cover is a further part.
void add_parts(const TimeReport& time, std::int64_t PartDifference::*nanos, PartsByName& parts) {
  std::int64_t rest = time.run_nanos;
  const auto threads = static_cast<std::int64_t>(std::max<std::uint64_t>(1, time.threads));
  for (const TimeRow& row : time.rows) {
    TimeRow of_cause = row;
    of_cause.where.clear();
    const std::string text = text_of(of_cause);
    PartDifference& part = parts[{row.operation, text}];
    part.operation = row.operation;
    part.text = text;
    part.*nanos += row.nanos / threads;
    rest -= row.nanos / threads;
  }
  PartDifference& outside = parts[{"", outside_of_threads}];
  outside.text = outside_of_threads;
  outside.*nanos += rest;
}

std::vector<PartDifference> parts_of(const TimeReport& before, const TimeReport& after) {
  PartsByName parts;
  add_parts(before, &PartDifference::before_nanos, parts);
  add_parts(after, &PartDifference::after_nanos, parts);
  std::vector<PartDifference> sorted;
  for (auto& [key, part] : parts) sorted.push_back(std::move(part));
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::abs(a.change()) > std::abs(b.change());
  });
  return sorted;
}

RunDifference runs_of(const TimeReport& before, const TimeReport& after, double least_share,
                      Random& random) {
  RunDifference run;
  run.before_nanos = before.run_nanos;
  run.after_nanos = after.run_nanos;
  run.iterations_before = before.iterations.count;
  run.iterations_after = after.iterations.count;
  const BlockRows old_rows = before.iterations.lengths.rows();
  const BlockRows new_rows = after.iterations.lengths.rows();
  if (std::min(old_rows.size(), new_rows.size()) >= resampled_rows_least)
    run.iteration = compare_rows(old_rows, new_rows, 1 - interval_share, least_share, random);
  run.has_equal_cuts = before.iterations.cut_at == after.iterations.cut_at &&
                       before.iterations.each == after.iterations.each;
  run.parts = parts_of(before, after);
  return run;
}

}  // namespace

Comparison compare(const Report& before, const Report& after, double least_share,
                   std::uint64_t seed) {
  const auto old_series = by_name(before);
  const auto new_series = by_name(after);
  Comparison comparison;
  comparison.least_share = least_share;
  std::vector<std::pair<const Series*, const Series*>> both;
  for (const auto& [name, series] : old_series) {
    const auto same = new_series.find(name);
    if (same == new_series.end()) {
      comparison.only_before.push_back(name);
    } else if (std::min(series->rows.size(), same->second->rows.size()) < resampled_rows_least) {
      comparison.too_short.push_back(name);
    } else {
      both.emplace_back(series, same->second);
    }
  }
  for (const auto& [name, series] : new_series)
    if (!old_series.contains(name)) comparison.only_after.push_back(name);
  const double outside =
      (1 - interval_share) / static_cast<double>(std::max<std::size_t>(1, both.size()));
  Random random(seed);
  comparison.run = runs_of(before.time, after.time, least_share, random);
  for (const auto& [old_one, new_one] : both) {
    Difference one = compare_rows(old_one->rows, new_one->rows, outside, least_share, random);
    one.figure = old_one->figure;
    one.what = old_one->what;
    comparison.differences += one.is_one;
    comparison.figures.push_back(std::move(one));
  }
  std::stable_sort(comparison.figures.begin(), comparison.figures.end(),
                   [](const Difference& a, const Difference& b) {
                     return std::pair(a.is_one, std::abs(a.change())) >
                            std::pair(b.is_one, std::abs(b.change()));
                   });
  return comparison;
}

std::optional<bool> is_slower(const Comparison& comparison, double share) {
  const std::optional<Difference>& iteration = comparison.run.iteration;
  if (!iteration) return std::nullopt;
  return iteration->low > 0 && iteration->change() > share * iteration->before;
}

namespace {

/// Prints a comparison for a terminal.
class ComparisonText {
 public:
  ComparisonText(const Comparison& comparison, std::size_t rows)
      : all_(comparison), rows_(rows == 0 ? rows_of_a_screen : rows) {}

  std::string print() {
    if (all_.run.before_nanos > 0 && all_.run.after_nanos > 0) runs();
    if (all_.figures.empty())
      line("No figures were compared: none has enough rounds in both runs.");
    else
      figures();
    mention(all_.too_short, "have too few rounds to be compared");
    mention(all_.only_before, "are only of the first run");
    mention(all_.only_after, "are only of the second run");
    return std::move(text_);
  }

 private:
  void line(std::string_view words) { append_line(text_, "{}", words); }
  static std::string share_of(double change, double before) {
    return before == 0 ? "" : fmt::format(" ({:+.2f}%)", 100 * change / before);
  }

  void runs() {
    const RunDifference& run = all_.run;
    line(fmt::format(
        "The run took {:.6f} s, was {:.6f}: {:+.6f} s{}", seconds(run.after_nanos),
        seconds(run.before_nanos), seconds(run.change()),
        share_of(static_cast<double>(run.change()), static_cast<double>(run.before_nanos))));
    if (run.iterations_before != run.iterations_after)
      line(fmt::format("  it had {} iterations, was {}", run.iterations_after,
                       run.iterations_before));
    if (!run.iteration) {
      line("  there are too few iterations for a statement about chance");
    } else {
      const Difference& one = *run.iteration;
      line(
          fmt::format("  an iteration took {:.6f} ms (mean), was {:.6f}: {:+.6f}{}, between "
                      "{:+.6f} and {:+.6f}",
                      ms(one.after), ms(one.before), ms(one.change()),
                      share_of(one.change(), one.before), ms(one.low), ms(one.high)));
      if (!one.is_one) line("  this may be chance, or it is below the least difference");
    }
    if (!run.has_equal_cuts) line("  iterations of both are cut at different operations");
    const bool is_run_alike =
        std::abs(static_cast<double>(run.change())) <
        std::max(difference_nanos, all_.least_share * static_cast<double>(run.before_nanos));
    const bool is_iteration_alike = run.iteration && !run.iteration->is_one;
    if (is_run_alike && is_iteration_alike) return line("");
    parts();
  }

  void parts() {
    const RunDifference& run = all_.run;
    line("");
    line("How the difference divides over the time of the mean thread");
    std::size_t shown = 0;
    std::int64_t rest = 0;
    for (const PartDifference& one : run.parts) {
      const bool is_small = std::abs(one.change()) * 1000 < std::abs(run.change());
      if (shown >= rows_ || is_small) {
        rest += one.change();
        continue;
      }
      ++shown;
      line(fmt::format("  {:>+12.6f} s  {}{}", seconds(one.change()),
                       one.operation.empty() ? "" : one.operation + ": ", one.text));
    }
    if (shown < run.parts.size())
      line(fmt::format("  {:>+12.6f} s  in {} smaller parts", seconds(rest),
                       run.parts.size() - shown));
    line("");
  }

  void figures() {
    line(
        fmt::format("{} of {} figures differ: by {:g}% at least and not by chance (intervals that "
                    "hold together in 95 of 100 comparisons)",
                    all_.differences, all_.figures.size(), 100 * all_.least_share));
    std::size_t shown = 0;
    std::size_t told = 0;
    std::set<std::string> merged;
    for (std::size_t place = 0; place < all_.differences && shown < rows_; ++place) {
      const Difference& one = all_.figures[place];
      const std::size_t alike = changed_alike(one);
      if (alike == 0) {
        line("  " + text_of_figure(one));
        ++told;
      } else if (merged.insert(one.figure).second) {
        line(fmt::format("  {} figures of {} changed alike, such as {}", alike, one.figure,
                         text_of_figure(one)));
        told += alike;
      } else {
        continue;
      }
      ++shown;
    }
    if (all_.differences > told) line(fmt::format("  ... and {} more", all_.differences - told));
  }

  /// Checks whether nearly all objects with the figure of `one` changed by a similar share. If so,
  /// returns the number of differences with this figure; otherwise returns 0.
  std::size_t changed_alike(const Difference& one) const {
    constexpr std::size_t least = 4;
    constexpr double nearly_all = 0.9, similar = 2;
    std::vector<double> shares;
    std::size_t figures = 0;
    for (const Difference& other : all_.figures) {
      if (other.figure != one.figure) continue;
      ++figures;
      if (other.is_one && other.before != 0) shares.push_back(other.change() / other.before);
    }
    const auto part = nearly_all * static_cast<double>(figures);
    if (shares.size() < least || static_cast<double>(shares.size()) < part) return 0;
    std::sort(shares.begin(), shares.end());
    const double median = shares[shares.size() / 2];
    const auto alike = std::count_if(shares.begin(), shares.end(), [&](double share) {
      return share * median > 0 && std::abs(share) <= similar * std::abs(median) &&
             std::abs(median) <= similar * std::abs(share);
    });
    return static_cast<double>(alike) >= part ? shares.size() : 0;
  }

  static std::string text_of_figure(const Difference& one) {
    return fmt::format(
        "{} of {}: {:.3f} ms, was {:.3f}: {:+.3f}{}, between {:+.3f} and {:+.3f}", one.figure,
        one.what, ms(one.after), ms(one.before), ms(one.change()),
        one.before == 0 ? "" : fmt::format(" ({:+.1f}%)", 100 * one.change() / one.before),
        ms(one.low), ms(one.high));
  }
  void mention(const std::vector<std::string>& names, std::string_view what) {
    if (!names.empty())
      line(fmt::format("  {} figures {}, such as {}", names.size(), what, names[0]));
  }

  const Comparison& all_;
  std::size_t rows_;
  std::string text_;
};

}  // namespace

std::string to_text(const Comparison& comparison, std::size_t rows) {
  return ComparisonText(comparison, rows).print();
}

}  // namespace eventspace
