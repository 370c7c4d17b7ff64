// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/costs.cpp — costs of findings, from predictions of the run
// without them.
#include "eventspace/analysis/attribution/costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "eventspace/analysis/attribution/division.hpp"
#include "eventspace/analysis/report/units.hpp"

namespace eventspace {
namespace {

/// Maximum number of findings that are put in the order of removal. In this order, a finding is the
/// one whose removal shortens the run most after the findings before it were removed. The number of
/// predictions grows with the square of this maximum.
constexpr std::size_t ordered_findings_max = 12;

/// Maximum number of findings whose costs are predicted.
constexpr std::size_t predicted_findings_max = 100;

std::vector<std::uint32_t> computing_of(const Finding& finding, const Predictor& predictor) {
  const Structure& structure = predictor.structure();
  return predictor.labels_that([&](const TimeLabel& label) {
    if (label.cause != TimeCause::computing) return false;
    // A finding that names a place in the program is only about the computations at that place.
    const PlaceInProgram& place = predictor.moments().place_of(label);
    if ((!finding.before.empty() && place.before != finding.before) ||
        (!finding.after.empty() && place.after != finding.after))
      return false;
    if (!finding.thread.empty()) return structure.thread_name(label.one) == finding.thread;
    const std::string& name = structure.hosts[structure.host_of_thread(label.one)].name;
    return name == finding.place.host ||
           std::find(finding.hosts.begin(), finding.hosts.end(), name) != finding.hosts.end();
  });
}

std::vector<std::uint32_t> between(const Finding& finding, const Predictor& predictor) {
  const Structure& structure = predictor.structure();
  const bool goes_both_ways = finding.kind == FindingKind::slow_network;
  return predictor.labels_that([&](const TimeLabel& label) {
    std::string from, to;
    if (label.cause == TimeCause::link_latency) {
      from = structure.clusters[label.one];
      to = structure.clusters[label.other];
    } else if (label.cause == TimeCause::network) {
      from = structure.hosts[label.one].name;
      to = structure.hosts[label.other].name;
    } else {
      return false;
    }
    return (from == finding.from && to == finding.to) ||
           (goes_both_ways && from == finding.to && to == finding.from);
  });
}

}  // namespace

std::optional<Change> change_without(const Finding& finding, const Predictor& predictor) {
  Change change;
  switch (finding.kind) {
    case FindingKind::slow_host:
    case FindingKind::slow_thread:
    case FindingKind::slow_cluster:
      change.labels = computing_of(finding, predictor);
      change.change.factor = 1 / (1 + finding.figure / 100);
      break;
    case FindingKind::change:
      change.labels =
          finding.from.empty() ? computing_of(finding, predictor) : between(finding, predictor);
      change.change.factor = 1 / (1 + finding.figure / 100);
      change.change.noise_factor = finding.from.empty() ? 0 : 1;
      change.change.from_share = finding.from_share;
      change.change.to_share = finding.to_share;
      break;
    case FindingKind::stall:
    case FindingKind::noisy_thread:
      change.labels = computing_of(finding, predictor);
      change.change.noise_factor = 0;
      break;
    case FindingKind::slow_link:
    case FindingKind::slow_network:
      change.labels = between(finding, predictor);
      change.change.factor = finding.figure > 0 ? 1 / finding.figure : 1;
      break;
    case FindingKind::late_broadcast:
      change.labels = predictor.labels_that([&](const TimeLabel& label) {
        return label.cause == TimeCause::hold &&
               predictor.structure().wrappers[label.one].name == finding.place.wrapper;
      });
      change.change.factor = 0;
      break;
  }
  if (change.labels.empty()) return std::nullopt;
  return change;
}

void predict_costs(const Predictor& predictor, Report& report) {
  std::vector<Finding>& findings = report.findings;
  const std::int64_t run_nanos = predictor.recorded_nanos();
  struct Candidate {
    Finding finding;
    Change change;
  };
  std::vector<Candidate> candidates;
  std::vector<Finding> others;
  std::size_t predicted = 0;
  for (Finding& finding : findings) {
    auto change =
        predicted < predicted_findings_max ? change_without(finding, predictor) : std::nullopt;
    if (!change) {
      if (!costs_enough(finding, report)) continue;
      others.push_back(std::move(finding));
      continue;
    }
    ++predicted;
    finding.cost_nanos = run_nanos - predictor.run_nanos({*change});
    finding.is_predicted = true;
    finding.is_hidden = static_cast<double>(finding.cost_nanos) <
                        report.name_from_share * static_cast<double>(run_nanos);
    if (!costs_enough(finding, report)) continue;
    candidates.push_back({std::move(finding), std::move(*change)});
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return a.finding.cost_nanos > b.finding.cost_nanos;
  });
  const auto hidden =
      std::stable_partition(candidates.begin(), candidates.end(),
                            [](const Candidate& one) { return !one.finding.is_hidden; });
  const auto first_hidden = static_cast<std::size_t>(hidden - candidates.begin());
  findings.clear();
  std::vector<Change> removed;
  for (std::size_t place = 0; place < candidates.size(); ++place) {
    if (place < ordered_findings_max && place > 0) {
      std::size_t best = place;
      std::int64_t shortest = 0;
      const std::size_t end =
          std::min(place < first_hidden ? first_hidden : candidates.size(), ordered_findings_max);
      for (std::size_t one = place; one < end; ++one) {
        std::vector<Change> with = removed;
        with.push_back(candidates[one].change);
        const std::int64_t nanos = predictor.run_nanos(with);
        if (one > place && nanos >= shortest) continue;
        best = one;
        shortest = nanos;
      }
      std::rotate(candidates.begin() + static_cast<std::ptrdiff_t>(place),
                  candidates.begin() + static_cast<std::ptrdiff_t>(best),
                  candidates.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
    removed.push_back(candidates[place].change);
    candidates[place].finding.run_without_nanos = predictor.run_nanos(removed);
    findings.push_back(std::move(candidates[place].finding));
  }
  findings.insert(findings.begin() + static_cast<std::ptrdiff_t>(first_hidden),
                  std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
}

std::string sensitivity_of_headline(const Predictor& predictor, const TimeReport& time) {
  const TimeCause cause = time.headline_cause;
  std::vector<Change> changes;
  std::string what;
  const auto is_of_headline = [&](const TimeLabel& label) {
    return label.cause == TimeCause::link_latency &&
           where_of(label, predictor.structure()) == time.headline_where;
  };
  if (cause == TimeCause::computing || cause == TimeCause::noise) {
    what = "computing 1% faster on all hosts";
    changes.push_back({predictor.labels_that([](const TimeLabel& label) {
                         return label.cause == TimeCause::computing;
                       }),
                       {.factor = 0.99, .noise_factor = 0.99}});
  } else if (cause == TimeCause::link_latency) {
    what = "1 ms less latency in each direction";
    constexpr double millisecond = 1e6;
    const auto numbers = predictor.labels_that(is_of_headline);
    if (std::any_of(numbers.begin(), numbers.end(), [&](std::uint32_t number) {
          return predictor.latency_nanos_of(number) >= millisecond;
        }))
      changes =
          predictor.with_latencies(numbers, [](double latency) { return latency - millisecond; });
  } else if (cause == TimeCause::link_transmission) {
    what = "twice the bandwidth";
    changes.push_back({predictor.labels_that(is_of_headline), {.transmission_factor = 0.5}});
  }
  if (changes.empty()) return "";
  const std::int64_t saved = predictor.recorded_nanos() - predictor.run_nanos(changes);
  return fmt::format("{} would make the run {:.6f} s shorter ({:.2f}%)", what, seconds(saved),
                     100 * static_cast<double>(saved) / static_cast<double>(time.run_nanos));
}

}  // namespace eventspace
