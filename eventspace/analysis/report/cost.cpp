// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/cost.cpp — costs of findings, and the decision whether to name a
// finding.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "eventspace/analysis/report/report.hpp"
#include "eventspace/analysis/report/units.hpp"

namespace eventspace {

std::int64_t length_of_run(const TimeReport& time) {
  if (time.has_critical_path || time.threads == 0) return time.run_nanos;
  return time.threads_nanos / static_cast<std::int64_t>(time.threads);
}

bool costs_enough(const Finding& finding, const Report& report) {
  const double least = report.name_from_share * static_cast<double>(length_of_run(report.time));
  const std::int64_t cost =
      finding.is_predicted ? std::max(finding.cost_nanos, finding.lost_nanos) : finding.lost_nanos;
  return static_cast<double>(cost) >= least;
}

bool is_always_named(std::int64_t lost_nanos, const Report& report) {
  return static_cast<double>(lost_nanos) >=
         always_named_share * static_cast<double>(length_of_run(report.time));
}

namespace {

/// Returns the confidence interval of a difference, or one number if the ends are printed alike.
std::string difference_text(const Compared& compared) {
  const std::string low = fmt::format("{:.3f}", ms(compared.low));
  const std::string high = fmt::format("{:.3f}", ms(compared.high));
  return fmt::format("the mean is {}{} ms above the usual one", low,
                     low == high ? "" : " to " + high);
}

}  // namespace

std::string cost_text(const Finding& finding, const TimeReport& time) {
  std::string text;
  if (finding.is_predicted)
    text = fmt::format("{}without it the run would be {:.6f} s shorter{}",
                       finding.is_hidden ? "hidden: " : "", seconds(finding.cost_nanos),
                       time.has_recorded_decisions ? ", with the recorded decisions" : "");
  else if (finding.cost_nanos > 0)
    text = fmt::format("cost {:.3f} s in total", seconds(finding.cost_nanos));
  if (!text.empty() && finding.compared) text += "; " + difference_text(*finding.compared);
  return text;
}

}  // namespace eventspace
