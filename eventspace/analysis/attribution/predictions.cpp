// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/predictions.cpp — answers to questions about changes of a run.
#include "eventspace/analysis/attribution/predictions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "eventspace/analysis/attribution/costs.hpp"
#include "eventspace/analysis/attribution/division.hpp"
#include "eventspace/analysis/attribution/sensitivities.hpp"
#include "eventspace/analysis/attribution/what_if.hpp"

namespace eventspace {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& mistake) {
  throw base::ConfigError({{base::Position{option, 0, 0}, mistake}});
}

/// Whether results may depend on the order in which values of other clusters arrived. A prediction
/// keeps the recorded order, and may therefore be wrong. With three or more clusters, results of
/// exact algorithms may also depend on the order, because a cluster takes over results that another
/// cluster has decided. If results are late by some rounds, the trace does not show which pushed
/// tuple was used.
bool decides_by_arrival(const Structure& structure) {
  return std::any_of(structure.wrappers.begin(), structure.wrappers.end(),
                     [](const Structure::Wrapper& wrapper) {
                       return setting_of(wrapper, "relaxation") == "conditional" ||
                              wrapper.combines.size() > 2 || wrapper.kind.starts_with("lagged");
                     });
}

Change change_without(std::int64_t number, const Report& report, const Predictor& predictor) {
  const std::size_t count = report.findings.size();
  if (number < 1 || static_cast<std::size_t>(number) > count)
    refuse("--without",
           fmt::format("expected the number of a finding, found {}; the report has {}", number,
                       count == 0   ? "none"
                       : count == 1 ? "1"
                                    : fmt::format("1 to {}", count)));
  const auto change =
      change_without(report.findings[static_cast<std::size_t>(number - 1)], predictor);
  if (!change)
    refuse("--without", fmt::format("the run without finding {} cannot be predicted", number));
  return *change;
}

WhatIfReport answer(const Questions& questions, const Report& report, const Predictor& predictor) {
  WhatIfReport answer;
  std::vector<Change> changes =
      changes_of(read_changes(questions.changes, predictor.structure()), predictor);
  std::vector<std::string> words = questions.changes;
  std::vector<std::int64_t> without = questions.without;
  std::sort(without.begin(), without.end());
  without.erase(std::unique(without.begin(), without.end()), without.end());
  for (const std::int64_t number : without) {
    changes.push_back(change_without(number, report, predictor));
    words.push_back(fmt::format("without finding {}", number));
  }
  answer.change = fmt::format("{}", fmt::join(words, ", "));
  const Prediction predicted = predictor.predict(changes);
  answer.run_nanos = predicted.run_nanos;
  answer.saved_nanos = report.time.run_nanos - predicted.run_nanos;
  std::map<std::string, std::int64_t> parts;
  for (std::uint32_t label = 0; label < predicted.critical_nanos.size(); ++label) {
    TimeRow row;
    row.cause = predictor.labels().at(label).cause;
    row.where = where_of(predictor.labels().at(label), predictor.structure());
    parts[text_of(row)] += predicted.critical_nanos[label];
  }
  const auto largest = std::max_element(
      parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (largest == parts.end() || predicted.run_nanos == 0) return answer;
  answer.largest = largest->first;
  answer.largest_share =
      static_cast<double>(largest->second) / static_cast<double>(predicted.run_nanos);
  return answer;
}

}  // namespace

void predict(const Bindings& bindings, const Questions& questions, Report& report) {
  const Moments& moments = bindings.moments();
  TimeReport& time = report.time;
  const bool has_prediction =
      time.run_nanos > 0 && moments.has_common_clock() && moments.count() <= predicted_moments_max;
  if (!has_prediction) {
    if (questions.asks_for_change() || questions.asks_for_sensitivities)
      refuse("prediction", time.run_nanos <= 0
                               ? "the trace has no threads, so nothing can be predicted"
                           : !moments.has_common_clock()
                               ? "the hosts' clocks are not compared, so nothing can be "
                                 "predicted; --utc compares them by UTC"
                               : "the trace is too long for predictions");
    if (time.run_nanos > 0) set_headline_by_threads(time);
    std::erase_if(report.findings,
                  [&](const Finding& finding) { return !costs_enough(finding, report); });
    return;
  }
  const Predictor predictor(bindings);
  time.predicted_nanos = predictor.recorded_nanos();
  time.has_recorded_decisions = decides_by_arrival(moments.structure());
  predict_costs(predictor, report);
  time.sensitivity = sensitivity_of_headline(predictor, time);
  if (questions.asks_for_change()) time.what_if = answer(questions, report, predictor);
  if (questions.asks_for_sensitivities) time.sensitivities = find_sensitivities(predictor);
}

}  // namespace eventspace
