// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/time_text.cpp — where the time of a run went, as text.
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
// Rows below this share are left out of the summary.
constexpr double share_least = 0.0005;

class TimeText : private TextWithTables {
 public:
  TimeText(const TimeReport& report, std::size_t rows) : TextWithTables(rows), report_(report) {}
  std::string print() {
    if (report_.run_nanos == 0) return "";
    run();
    if (!report_.headline.empty()) {
      line("\n{}", report_.headline);
      if (!report_.sensitivity.empty())
        line("  {}{}", report_.sensitivity,
             report_.has_recorded_decisions ? ", with the recorded decisions" : "");
      line("  {}", report_.advice);
    }
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
      line("\nThe run took {:.6f} s; no iterations were found", seconds(report_.run_nanos));
      return;
    }
    line("\nThe run took {:.6f} s: {} iterations of {:.6f} ms (mean; median {:.6f}, p99 {:.6f})",
         seconds(report_.run_nanos), iterations.count, ms(iterations.length.mean),
         ms(iterations.length.p50), ms(iterations.length.p99));
    if (iterations.rule == "mark")
      line("  an iteration ends when all threads that mark iterations have marked its end");
    else
      line("  an iteration ends when all {} returned from {}{}",
           iterations.rule == "element" ? "threads that do it have" : "threads have",
           iterations.cut_at,
           iterations.each == 1 ? "" : fmt::format(", every {} times", iterations.each));
    if (iterations.beginning_nanos > 0 || iterations.end_nanos > 0)
      line("  {:.6f} s before the first iteration, {:.6f} s after the last",
           seconds(iterations.beginning_nanos), seconds(iterations.end_nanos));
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
            : fmt::format("  (most: {}, {:.6f} s)", one.most, seconds(one.most_nanos));
    line("  {:>7.3f}% {:>12.6f} s  {}{}{}", 100 * one.share, seconds(one.nanos), what, text_of(one),
         most);
  }

  const TimeReport& report_;
};

}  // namespace

std::string text_of(const TimeRow& row) {
  const bool is_of_others = !row.operation.empty() &&
                            (row.cause == TimeCause::computing || row.cause == TimeCause::noise);
  std::string text(words_of(row.cause).text);
  if (is_of_others)
    text = row.cause == TimeCause::noise ? "waiting for noise of threads of"
                                         : "waiting for computing threads of";
  if (row.cause == TimeCause::unknown) text += ":";
  return row.where.empty() ? text : text + " " + row.where;
}

std::string to_text(const TimeReport& report, std::size_t rows) {
  return TimeText(report, rows).print();
}

}  // namespace eventspace
