// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/costs.cpp — runs without findings, predicted by forward passes.
#include "eventspace/analysis/attribution/costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "eventspace/analysis/attribution/division.hpp"
#include "eventspace/analysis/attribution/forward_pass.hpp"
#include "eventspace/analysis/report/units.hpp"

namespace eventspace {
namespace {

/// Findings that are ordered by what they cost together with others. Each needs a prediction for
/// each one before it.
constexpr std::size_t ordered_findings_max = 12;

/// Share of the run below which the cost of a finding alone counts as hidden.
constexpr double named_share = 0.001;

/// Labels that a change concerns, and the change.
struct Change {
  std::vector<std::uint32_t> labels;
  LabelChange change;
};

class Predictor {
 public:
  explicit Predictor(const Bindings& bindings)
      : moments_(bindings.moments()),
        structure_(bindings.moments().structure()),
        labels_(bindings.moments().labels()),
        pass_(bindings) {}

  const ForwardPass& pass() const { return pass_; }

  template <typename Is>
  std::vector<std::uint32_t> labels_that(const Is& is) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t number = 0; number < labels_.count(); ++number)
      if (is(labels_.at(number))) found.push_back(number);
    return found;
  }
  std::int64_t without(const std::vector<Change>& all) const {
    Changes changes(labels_.count());
    for (const Change& one : all)
      for (const std::uint32_t label : one.labels) {
        changes[label].factor *= one.change.factor;
        changes[label].transmission_factor *= one.change.transmission_factor;
        changes[label].noise_factor *= one.change.noise_factor;
      }
    return pass_.run_nanos(changes);
  }

  /// Returns the change that removes a finding, or nothing if it cannot be predicted.
  std::optional<Change> counterfactual_of(const Finding& finding) const {
    Change change;
    switch (finding.kind) {
      case FindingKind::slow_host:
      case FindingKind::slow_thread:
        change.labels = computing_of(finding);
        change.change.factor = 1 / (1 + finding.figure / 100);
        break;
      case FindingKind::noisy_thread:
        change.labels = computing_of(finding);
        change.change.noise_factor = 0;
        break;
      case FindingKind::slow_link:
      case FindingKind::slow_network:
        change.labels = between(finding);
        change.change.factor = finding.figure > 0 ? 1 / finding.figure : 1;
        break;
      case FindingKind::late_broadcast:
        change.labels = labels_that([&](const TimeLabel& label) {
          return label.cause == TimeCause::hold &&
                 structure_.wrappers[label.one].name == finding.place.wrapper;
        });
        change.change.factor = 0;
        break;
    }
    if (change.labels.empty()) return std::nullopt;
    return change;
  }

 private:
  std::vector<std::uint32_t> computing_of(const Finding& finding) const {
    return labels_that([&](const TimeLabel& label) {
      if (label.cause != TimeCause::computing) return false;
      const std::uint32_t host = structure_.host_of_thread(label.one);
      // A thread is slow or noisy at one place of its program. A host is slow at all places.
      if (!finding.thread.empty()) {
        const PlaceInProgram& place = moments_.place_of(label);
        return structure_.thread_name(label.one) == finding.thread &&
               (finding.before.empty() || place.before == finding.before) &&
               (finding.after.empty() || place.after == finding.after);
      }
      const std::string& name = structure_.hosts[host].name;
      return name == finding.place.host ||
             std::find(finding.hosts.begin(), finding.hosts.end(), name) != finding.hosts.end();
    });
  }
  std::vector<std::uint32_t> between(const Finding& finding) const {
    const bool goes_both_ways = finding.kind == FindingKind::slow_network;
    return labels_that([&](const TimeLabel& label) {
      std::string from, to;
      if (label.cause == TimeCause::link_latency) {
        from = structure_.clusters[label.one];
        to = structure_.clusters[label.other];
      } else if (label.cause == TimeCause::network) {
        from = structure_.hosts[label.one].name;
        to = structure_.hosts[label.other].name;
      } else {
        return false;
      }
      return (from == finding.from && to == finding.to) ||
             (goes_both_ways && from == finding.to && to == finding.from);
    });
  }

  const Moments& moments_;
  const Structure& structure_;
  const Labels& labels_;
  ForwardPass pass_;
};

/// Sets the costs of findings that can be predicted, and sorts them.
void predict_findings(const Predictor& predictor, std::int64_t run_nanos,
                      std::vector<Finding>& findings) {
  struct Candidate {
    Finding finding;
    Change change;
  };
  std::vector<Candidate> candidates;
  std::vector<Finding> others;
  for (Finding& finding : findings) {
    auto change = predictor.counterfactual_of(finding);
    if (!change) {
      others.push_back(std::move(finding));
      continue;
    }
    finding.cost_nanos = run_nanos - predictor.without({*change});
    finding.is_predicted = true;
    finding.is_hidden =
        static_cast<double>(finding.cost_nanos) < named_share * static_cast<double>(run_nanos);
    candidates.push_back({std::move(finding), std::move(*change)});
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return a.finding.cost_nanos > b.finding.cost_nanos;
  });
  findings.clear();
  std::vector<Change> removed;
  for (std::size_t place = 0; place < candidates.size(); ++place) {
    if (place < ordered_findings_max && place > 0) {
      std::size_t best = place;
      std::int64_t shortest = 0;
      const std::size_t end = std::min(candidates.size(), ordered_findings_max);
      for (std::size_t one = place; one < end; ++one) {
        std::vector<Change> with = removed;
        with.push_back(candidates[one].change);
        const std::int64_t nanos = predictor.without(with);
        if (one > place && nanos >= shortest) continue;
        best = one;
        shortest = nanos;
      }
      std::rotate(candidates.begin() + static_cast<std::ptrdiff_t>(place),
                  candidates.begin() + static_cast<std::ptrdiff_t>(best),
                  candidates.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
    removed.push_back(candidates[place].change);
    candidates[place].finding.run_without_nanos = predictor.without(removed);
    findings.push_back(std::move(candidates[place].finding));
  }
  std::move(others.begin(), others.end(), std::back_inserter(findings));
}

/// Returns what a small change of the headline's part of the critical path would do.
std::string sensitivity_of(const Predictor& predictor, const Moments& moments,
                           const TimeReport& time) {
  const TimeCause cause = time.headline_cause;
  std::vector<Change> changes;
  std::string what;
  if (cause == TimeCause::computing || cause == TimeCause::noise) {
    what = "computing 1% faster on all hosts";
    changes.push_back({predictor.labels_that([](const TimeLabel& label) {
                         return label.cause == TimeCause::computing;
                       }),
                       {.factor = 0.99, .noise_factor = 0.99}});
  } else if (cause == TimeCause::link_latency || cause == TimeCause::link_transmission) {
    const bool is_latency = cause == TimeCause::link_latency;
    what = is_latency ? "1 ms less latency in each direction" : "twice the bandwidth";
    constexpr double millisecond = 1e6;
    for (const std::uint32_t number : predictor.labels_that([&](const TimeLabel& label) {
           return label.cause == TimeCause::link_latency &&
                  where_of(label, moments.structure()) == time.headline_where;
         })) {
      const double typical = predictor.pass().typical_nanos(number);
      if (is_latency && typical < millisecond) continue;
      changes.push_back({{number}, {}});
      if (is_latency)
        changes.back().change.factor = 1 - millisecond / typical;
      else
        changes.back().change.transmission_factor = 0.5;
    }
  }
  if (changes.empty()) return "";
  const std::int64_t saved = time.run_nanos - predictor.without(changes);
  return fmt::format("{} would make the run {:.6f} s shorter ({:.2f}%)", what, seconds(saved),
                     100 * static_cast<double>(saved) / static_cast<double>(time.run_nanos));
}

}  // namespace

void predict_costs(const Bindings& bindings, Report& report) {
  const Moments& moments = bindings.moments();
  if (report.time.run_nanos <= 0) return;
  if (!moments.has_common_clock() || moments.count() > predicted_moments_max)
    return set_headline_by_threads(report.time);
  const Predictor predictor(bindings);
  report.time.predicted_nanos = predictor.without({});
  const auto& wrappers = moments.structure().wrappers;
  report.time.has_recorded_decisions =
      std::any_of(wrappers.begin(), wrappers.end(), [](const Structure::Wrapper& wrapper) {
        return setting_of(wrapper, "relaxation") == "conditional";
      });
  predict_findings(predictor, report.time.predicted_nanos, report.findings);
  report.time.sensitivity = sensitivity_of(predictor, moments, report.time);
}

}  // namespace eventspace
