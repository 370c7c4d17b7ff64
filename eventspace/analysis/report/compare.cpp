// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/compare.cpp — comparison of two runs with confidence intervals.
#include "eventspace/analysis/report/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numbers>
#include <random>
#include <utility>

#include "eventspace/analysis/report/units.hpp"
#include "eventspace/analysis/report/visible_text.hpp"

namespace eventspace {
namespace {

constexpr std::size_t least_blocks = 16;
constexpr int resamples = 400;
constexpr std::size_t rows_of_a_screen = 20;

using Random = std::mt19937_64;
using Rows = std::vector<Blocks::Row>;

void add(Blocks::Row& sum, const Blocks::Row& row) {
  sum.sum += row.sum;
  sum.count += row.count;
}

double mean_of(const Blocks::Row& row) { return row.sum / static_cast<double>(row.count); }

Blocks::Row all_of(const Rows& rows) {
  Blocks::Row all;
  for (const Blocks::Row& row : rows) add(all, row);
  return all;
}

/// Returns the length of the blocks of the block bootstrap: the number of consecutive rows that are
/// resampled together. Long blocks cover the dependence between rounds; short blocks are more
/// numerous. The square root of the number of rows makes length and number equal.
std::size_t length_of(const Rows& rows) {
  return static_cast<std::size_t>(std::sqrt(static_cast<double>(rows.size())));
}

/// Returns the standard deviation that the mean would have over other rounds of the same run. The
/// last row may have fewer rounds, and counts accordingly.
double deviation_of(const Rows& rows, Random& random) {
  const std::size_t length = length_of(rows);
  Rows long_rows(rows.size());  // sums of `length` consecutive rows, cyclically
  for (std::size_t first = 0; first < rows.size(); ++first)
    for (std::size_t place = 0; place < length; ++place)
      add(long_rows[first], rows[(first + place) % rows.size()]);
  const std::size_t drawn = rows.size() / length;
  const double centre = mean_of(all_of(rows));
  double squares = 0;
  for (int resample = 0; resample < resamples; ++resample) {
    Blocks::Row all;
    for (std::size_t row = 0; row < drawn; ++row) add(all, long_rows[random() % long_rows.size()]);
    squares += std::pow(mean_of(all) - centre, 2);
  }
  return std::sqrt(squares / resamples * static_cast<double>(drawn) /
                   static_cast<double>(drawn - 1));
}

/// Returns the number of standard deviations beyond which, on both sides together, a share
/// `outside` of the values lies.
double normal_quantile(double outside) {
  double low = 0;
  double high = 40;
  while (high - low > 1e-9) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::numbers::sqrt2) > outside ? low : high) = middle;
  }
  return low;
}

/// Like normal_quantile(), for Student's t distribution. This is needed because few rows give only
/// a rough standard deviation (Abramowitz and Stegun 1964, 26.7.5).
double student_quantile(double outside, double freedom) {
  const double z = normal_quantile(outside);
  const auto power = [z](int exponent) { return std::pow(z, exponent); };
  return z + (power(3) + z) / (4 * freedom) +
         (5 * power(5) + 16 * power(3) + 3 * z) / (96 * std::pow(freedom, 2)) +
         (3 * power(7) + 19 * power(5) + 17 * power(3) - 15 * z) / (384 * std::pow(freedom, 3));
}

Difference difference_of(const Rows& before, const Rows& after, double outside, Random& random) {
  Difference one;
  one.before = mean_of(all_of(before));
  one.after = mean_of(all_of(after));
  const double deviation = std::hypot(deviation_of(before, random), deviation_of(after, random));
  const auto freedom = static_cast<double>(
      std::min(before.size() / length_of(before), after.size() / length_of(after)) - 1);
  const double reach = deviation * student_quantile(outside, freedom);
  one.low = one.change() - reach;
  one.high = one.change() + reach;
  const double least = std::max(difference_nanos, difference_share * std::abs(one.before));
  one.is_one = (one.low > 0 || one.high < 0) && std::abs(one.change()) >= least;
  return one;
}

/// Returns the series by figure and name. Series with equal names are numbered in their order.
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

}  // namespace

Comparison compare(const Report& before, const Report& after, std::uint64_t seed) {
  const auto old_series = by_name(before);
  const auto new_series = by_name(after);
  Comparison comparison;
  std::vector<std::pair<const Series*, const Series*>> both;
  for (const auto& [name, series] : old_series) {
    const auto same = new_series.find(name);
    if (same == new_series.end()) {
      comparison.only_before.push_back(name);
    } else if (std::min(series->rows.size(), same->second->rows.size()) < least_blocks) {
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
  for (const auto& [old_one, new_one] : both) {
    Difference one = difference_of(old_one->rows, new_one->rows, outside, random);
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

std::string to_text(const Comparison& comparison, std::size_t rows) {
  std::string text;
  const auto line = [&text](std::string_view words) { append_line(text, "{}", words); };
  if (comparison.figures.empty())
    line("Nothing was compared: no figure has enough rounds in both runs.");
  else
    line(
        fmt::format("{} of {} figures differ: by 0.5% at least and not by chance (intervals that "
                    "hold together in 95 of 100 comparisons)",
                    comparison.differences, comparison.figures.size()));
  const std::size_t shown = std::min(rows == 0 ? rows_of_a_screen : rows, comparison.differences);
  for (std::size_t place = 0; place < shown; ++place) {
    const Difference& one = comparison.figures[place];
    const std::string share =
        one.before == 0 ? "" : fmt::format(" ({:+.1f}%)", 100 * one.change() / one.before);
    line(fmt::format("  {} of {}: {:.3f} ms, was {:.3f}: {:+.3f}{}, between {:+.3f} and {:+.3f}",
                     one.figure, one.what, ms(one.after), ms(one.before), ms(one.change()), share,
                     ms(one.low), ms(one.high)));
  }
  if (comparison.differences > shown)
    line(fmt::format("  ... and {} more", comparison.differences - shown));
  const auto mention = [&](const std::vector<std::string>& names, std::string_view what) {
    if (!names.empty())
      line(fmt::format("  {} figures {}, such as {}", names.size(), what, names[0]));
  };
  mention(comparison.too_short, "have too few rounds to be compared");
  mention(comparison.only_before, "are only of the first run");
  mention(comparison.only_after, "are only of the second run");
  return text;
}

}  // namespace eventspace
