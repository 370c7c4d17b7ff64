// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/predictions.hpp — predicted times of a run after changes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eventspace/analysis/report/fields.hpp"

namespace eventspace {

/// Questions of a user about the run after changes.
struct Questions {
  /// Changes such as "link:alpha>beta.latency=5ms". A single prediction applies all changes.
  std::vector<std::string> changes = {};
  /// Numbers of the findings in the report, from 1, whose causes the prediction also removes.
  std::vector<std::int64_t> without = {};
  bool asks_for_sensitivities = false;
  bool asks_for_change() const { return !changes.empty() || !without.empty(); }
};

/// Prediction of the run with Questions::changes and without the findings Questions::without.
struct WhatIfReport {
  std::string change;
  std::int64_t run_nanos = 0;
  std::int64_t saved_nanos = 0;
  std::string largest;  ///< cause with the most time on the critical path of the changed run
  double largest_share = 0;
};

template <class Visitor>
void describe(Visitor& visit, const WhatIfReport& answer) {
  visit.object("what_if", "The run as it is predicted with the changes that were asked for.");
  visit.field("change", answer.change, units::none, "The changes.");
  visit.field("run_nanos", answer.run_nanos, units::nanos, "Predicted time of the run.");
  visit.field("saved_nanos", answer.saved_nanos, units::nanos,
              "Time by which the run would be shorter.");
  visit.field("largest", answer.largest, units::none,
              "Largest part of the critical path of the changed run.");
  visit.field("largest_share", answer.largest_share, units::share, "Its share of that run.");
}

/// Predicted effects on the run if one object changes. Each effect is the time by which the run
/// would be longer; below 0 = shorter. For a link or network, `more_nanos` and `less_nanos` are the
/// effects of 1 ms more or less latency. For a host or cluster, they are the effects of 1% more or
/// less computing time.
struct Sensitivity {
  std::string object;
  bool is_latency = false;
  double latency_nanos = 0;  ///< latency in the traced run
  std::int64_t more_nanos = 0;
  std::int64_t less_nanos = 0;
  std::int64_t none_nanos = 0;  ///< effect if the latency or the computing takes no time
  /// Effects of half the bandwidth and of twice the bandwidth. nullopt if the bandwidth is not
  /// known.
  std::optional<std::int64_t> half_nanos, double_nanos;
  /// Increase that makes the run 1% longer: nanoseconds of latency, or percent of computing time.
  std::optional<double> tolerance;
};

template <class Visitor>
void describe(Visitor& visit, const Sensitivity& one) {
  visit.object("sensitivity", "How the time of the run depends on one link, network or host.");
  visit.field("object", one.object, units::none, "Link, network, host or cluster.");
  visit.field("is_latency", one.is_latency, units::none,
              "True if the latency of a link or network changes, false if computing changes.");
  const Presence has_latency = left_out_if_false("is_latency", one.is_latency);
  visit.field("latency_nanos", one.latency_nanos, units::nanos, "Its latency in the traced run.",
              has_latency);
  visit.field("more_nanos", one.more_nanos, units::nanos,
              "Time by which the run would be longer with 1 ms or 1% more.");
  visit.field("less_nanos", one.less_nanos, units::nanos,
              "Time by which the run would be longer with 1 ms or 1% less.");
  visit.field("none_nanos", one.none_nanos, units::nanos,
              "Time by which the run would be longer without the latency or the computing.");
  const Presence has_rate = left_out(!one.half_nanos, "if no bandwidth is declared");
  visit.field("half_nanos", one.half_nanos.value_or(0), units::nanos,
              "Time by which the run would be longer with half of the bandwidth.", has_rate);
  visit.field("double_nanos", one.double_nanos.value_or(0), units::nanos,
              "Time by which the run would be longer with twice the bandwidth.", has_rate);
  visit.field("tolerance", one.tolerance.value_or(0), units::as_field,
              "Nanoseconds of latency, or percent of computing, to add until the run is 1% longer.",
              left_out(!one.tolerance, "if nothing makes it that long"));
}

}  // namespace eventspace
