// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/time_text.cpp — time of a run by operation and cause, as text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "eventspace/analysis/report/report.hpp"
#include "eventspace/analysis/report/units.hpp"
#include "eventspace/analysis/report/visible_text.hpp"

namespace eventspace {
namespace {

// Limits of the summary, which must fit on one screen.
constexpr std::size_t rows_shown = 8;
// Least share of the time for a row to be in the summary.
constexpr double share_least = 0.0005;

class TimeText : private TextWithTables {
 public:
  TimeText(const TimeReport& report, std::size_t rows) : TextWithTables(rows), report_(report) {}
  std::string print() {
    if (report_.run_nanos == 0) return "";
    run();
    if (!report_.headline.empty()) {
      line("\n{}", report_.headline);
      if (!report_.sensitivity.empty()) line("  {}", sensitivity_text(report_));
      line("  {}", report_.advice);
    }
    if (report_.what_if) what_if(*report_.what_if);
    if (!report_.sensitivities.empty()) sensitivities();
    const bool is_one = report_.threads == 1;
    line("\nWhere the time went: {}, {:.6f} s together",
         is_one ? "1 thread" : fmt::format("{} threads", report_.threads),
         seconds(report_.threads_nanos));
    table_of(report_.rows);
    if (!report_.not_recorded.empty()) {
      constexpr std::size_t named_max = 5;
      const std::size_t named = std::min(named_max, report_.not_recorded.size());
      line("  computing includes operations without records: {}{}",
           fmt::join(report_.not_recorded.begin(),
                     report_.not_recorded.begin() + static_cast<std::ptrdiff_t>(named), ", "),
           named == report_.not_recorded.size()
               ? ""
               : fmt::format(" and {} more", report_.not_recorded.size() - named));
    }
    if (report_.has_critical_path && rows_ > 0) {
      line("\nThe critical path: what the run waited for, from its begin to its end");
      table_of(report_.critical);
    }
    return std::move(text_);
  }

 private:
  void run() {
    if (report_.is_cut)
      line(
          "\nThe run has too many records. The times down to \"Out of the ordinary\" are of its "
          "first {:.6f} s.",
          seconds(report_.run_nanos));
    const IterationReport& iterations = report_.iterations;
    if (iterations.count == 0) {
      line("\nThe run took {:.6f} s; {}", seconds(report_.run_nanos), text_of(iterations));
      return;
    }
    line("\nThe run took {:.6f} s: {} iterations of {:.6f} ms (mean; median {:.6f}, p99 {:.6f})",
         seconds(report_.run_nanos), iterations.count, ms(iterations.length.mean),
         ms(iterations.length.p50), ms(iterations.length.p99));
    line("  {}", text_of(iterations));
    if (iterations.beginning_nanos > 0 || iterations.end_nanos > 0)
      line("  {:.6f} s before the first iteration, {:.6f} s after the last",
           seconds(iterations.beginning_nanos), seconds(iterations.end_nanos));
  }

  void what_if(const WhatIfReport& answer) {
    const bool is_longer = answer.saved_nanos < 0;
    const std::int64_t nanos = is_longer ? -answer.saved_nanos : answer.saved_nanos;
    line("\nWhat if: {}", answer.change);
    line("  the run takes {:.6f} s instead of {:.6f} s: {:.6f} s {} ({:.2f}%)",
         seconds(answer.run_nanos), seconds(report_.run_nanos), seconds(nanos),
         is_longer ? "longer" : "shorter",
         100 * static_cast<double>(nanos) / static_cast<double>(report_.run_nanos));
    if (report_.iterations.count > 0)
      line("  that is {:.6f} ms in each of {} iterations (mean)",
           ms(nanos) / static_cast<double>(report_.iterations.count), report_.iterations.count);
    if (!answer.largest.empty())
      line("  {:.2f}% of that run is {}", 100 * answer.largest_share, answer.largest);
    if (report_.has_recorded_decisions)
      line("  clusters decide by the same values as in the traced run; the real run may differ");
  }

  void sensitivities() {
    const auto print = [&](bool is_latency) {
      const std::size_t most = std::max<std::size_t>(20, rows_);
      std::size_t shown = 0;
      std::size_t without_effect = 0;
      for (const Sensitivity& one : report_.sensitivities) {
        if (one.is_latency != is_latency) continue;
        if (one.more_nanos == 0 && one.none_nanos == 0 && !one.tolerance) {
          ++without_effect;
        } else if (shown < most) {
          sensitivity(one);
          ++shown;
        }
      }
      if (without_effect > 0) line("  {} others have no effect", without_effect);
    };
    const auto has = [&](bool is_latency) {
      return std::any_of(report_.sensitivities.begin(), report_.sensitivities.end(),
                         [&](const Sensitivity& one) { return one.is_latency == is_latency; });
    };
    if (has(true)) {
      line("\nIf a latency changed: seconds by which the run would be longer");
      line("  {:<28} {:>12} {:>12} {:>12} {:>12} {:>12} {:>14}", "", "1 ms more", "1 ms less",
           "no latency", "half rate", "double rate", "1% longer at");
      print(true);
    }
    if (has(false)) {
      line("\nIf computing changed: seconds by which the run would be longer");
      line("  {:<28} {:>12} {:>12} {:>12} {:>14}", "", "1% more", "1% less", "none",
           "1% longer at");
      print(false);
    }
  }

  void sensitivity(const Sensitivity& one) {
    const auto or_dash = [](const std::optional<std::int64_t>& nanos) {
      return nanos ? fmt::format("{:.6f}", seconds(*nanos)) : std::string("-");
    };
    constexpr double least_nanos = 1e6;
    const bool has_less = !one.is_latency || one.latency_nanos >= least_nanos;
    const std::string start = fmt::format(
        "{:<28} {:>12.6f} {:>12} {:>12.6f}", one.object, seconds(one.more_nanos),
        has_less ? fmt::format("{:.6f}", seconds(one.less_nanos)) : "-", seconds(one.none_nanos));
    if (one.is_latency)
      line("  {} {:>12} {:>12} {:>14}", start, or_dash(one.half_nanos), or_dash(one.double_nanos),
           one.tolerance ? fmt::format("+{:.3f} ms", ms(*one.tolerance)) : "-");
    else
      line("  {} {:>14}", start, one.tolerance ? fmt::format("+{:.1f}%", *one.tolerance) : "-");
  }

  void table_of(const std::vector<TimeRow>& rows) {
    const std::size_t most = std::max(rows_shown, rows_);
    std::size_t shown = 0;
    while (shown < std::min(most, rows.size()) && (rows_ > 0 || rows[shown].share >= share_least))
      row(rows[shown++]);
    if (shown == rows.size()) return;
    double share = 0;
    for (std::size_t rest = shown; rest < rows.size(); ++rest) share += rows[rest].share;
    line("  {:>7.3f}%               and {} more", 100 * share, rows.size() - shown);
  }

  void row(const TimeRow& one) {
    const std::string what =
        one.operation.empty() ? std::string() : fmt::format("{}: ", one.operation);
    const std::string most =
        one.most.empty() || report_.threads == 1
            ? ""
            : fmt::format("  (most: {}{}, {:.6f} s)", is_wait_for_threads(one) ? "for " : "",
                          one.most, seconds(one.most_nanos));
    line("  {:>7.3f}% {:>12.6f} s  {}{}{}", 100 * one.share, seconds(one.nanos), what, text_of(one),
         most);
  }

  const TimeReport& report_;
};

}  // namespace

std::string text_of(const TimeRow& row) {
  const bool is_of_others = !row.operation.empty() && is_of_thread(row.cause);
  std::string text(words_of(row.cause).text);
  if (is_of_others)
    text = row.cause == TimeCause::noise ? "waiting for noise of threads"
                                         : "waiting for computing threads";
  if (row.cause == TimeCause::unknown) text += ":";
  if (row.where.empty()) return text;
  return text + (is_of_others ? " of " : " ") + row.where;
}

std::string text_of(const IterationReport& iterations) {
  if (iterations.count == 0) return "no iterations were found";
  if (iterations.rule == "mark")
    return "an iteration ends when all threads that mark iterations have marked its end";
  return fmt::format("an iteration ends when all {} returned from {}{}",
                     iterations.rule == "element" ? "threads that do it have" : "threads have",
                     iterations.cut_at,
                     iterations.each == 1 ? "" : fmt::format(", every {} times", iterations.each));
}

std::string sensitivity_text(const TimeReport& time) {
  const bool has_recorded = time.has_recorded_decisions && !time.sensitivity.empty();
  return time.sensitivity + (has_recorded ? ", with the recorded decisions" : "");
}

std::string to_text(const TimeReport& report, std::size_t rows) {
  return TimeText(report, rows).print();
}

}  // namespace eventspace
