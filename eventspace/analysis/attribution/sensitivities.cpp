// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/sensitivities.cpp — runs with a little more or less of something.
#include "eventspace/analysis/attribution/sensitivities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>

namespace eventspace {
namespace {

constexpr double millisecond = 1e6;
constexpr std::size_t objects_max = 100;  // each needs some 20 predictions
constexpr double longer_share = 0.01;     // share of the run, for the tolerance

class SensitivityFinder {
 public:
  explicit SensitivityFinder(const Predictor& predictor) : predictor_(predictor) {}

  std::vector<Sensitivity> find() {
    add_links();
    add_networks();
    add_computing();
    choose();
    for (const Object& one : objects_) one.is_latency ? add_latency(one) : add_speed(one);
    std::stable_sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) {
      return std::max(a.more_nanos, -a.none_nanos) > std::max(b.more_nanos, -b.none_nanos);
    });
    return std::move(found_);
  }

 private:
  using Labels = std::vector<std::uint32_t>;
  /// Link, network, host or cluster.
  struct Object {
    std::string name;
    Labels labels;
    bool is_latency = false;
    std::int64_t nanos = 0;  // time on the critical path
  };

  const Structure& structure() const { return predictor_.structure(); }
  std::int64_t longer_by(const std::vector<Change>& changes) const {
    return predictor_.run_nanos(changes) - predictor_.recorded_nanos();
  }

  /// Keeps the objects for which the run waits longest.
  void choose() {
    const Prediction recorded = predictor_.predict({});
    for (Object& one : objects_)
      for (const std::uint32_t label : one.labels)
        add_to(one.nanos, recorded.critical_nanos[label]);
    std::stable_sort(objects_.begin(), objects_.end(),
                     [](const Object& a, const Object& b) { return a.nanos > b.nanos; });
    if (objects_.size() > objects_max) objects_.resize(objects_max);
  }

  void add_links() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, Labels> directions, pairs;
    for (const std::uint32_t number : predictor_.labels_that(
             [](const TimeLabel& label) { return label.cause == TimeCause::link_latency; })) {
      const TimeLabel& label = predictor_.labels().at(number);
      directions[{label.one, label.other}].push_back(number);
      pairs[std::minmax(label.one, label.other)].push_back(number);
    }
    const auto& clusters = structure().clusters;
    for (const auto& [ends, labels] : directions)
      add_object(true, fmt::format("link {} > {}", clusters[ends.first], clusters[ends.second]),
                 labels);
    for (const auto& [ends, labels] : pairs)
      if (labels.size() > 1)
        add_object(true, fmt::format("link {}, {}", clusters[ends.first], clusters[ends.second]),
                   labels);
  }

  void add_networks() {
    std::map<std::uint32_t, Labels> of_clusters;
    for (const std::uint32_t number : predictor_.labels_that(
             [](const TimeLabel& label) { return label.cause == TimeCause::network; }))
      of_clusters[structure().hosts[predictor_.labels().at(number).one].cluster].push_back(number);
    for (const auto& [cluster, labels] : of_clusters)
      add_object(true, fmt::format("network {}", structure().clusters[cluster]), labels);
  }

  void add_computing() {
    std::map<std::uint32_t, Labels> of_hosts, of_clusters;
    Labels all;
    for (const std::uint32_t number : predictor_.labels_that(
             [](const TimeLabel& label) { return label.cause == TimeCause::computing; })) {
      const std::uint32_t host = structure().host_of_thread(predictor_.labels().at(number).one);
      of_hosts[host].push_back(number);
      of_clusters[structure().hosts[host].cluster].push_back(number);
      all.push_back(number);
    }
    for (const auto& [host, labels] : of_hosts)
      add_object(false, fmt::format("host {}", structure().hosts[host].name), labels);
    for (const auto& [cluster, labels] : of_clusters)
      add_object(false, fmt::format("cluster {}", structure().clusters[cluster]), labels);
    add_object(false, "all hosts", all);
  }

  void add_object(bool is_latency, const std::string& name, const Labels& labels) {
    objects_.push_back({name, labels, is_latency});
  }

  void add_latency(const Object& object) {
    const Labels& labels = object.labels;
    Sensitivity one;
    one.object = object.name;
    one.is_latency = true;
    for (const std::uint32_t number : labels)
      one.latency_nanos = std::max(one.latency_nanos, predictor_.latency_nanos_of(number));
    if (one.latency_nanos <= 0) return;
    const auto with = [&](double more) {
      return longer_by(predictor_.with_latencies(
          labels, [&](double latency) { return std::max(0.0, latency + more); }));
    };
    one.more_nanos = with(millisecond);
    one.less_nanos = with(-millisecond);
    one.none_nanos = with(-one.latency_nanos);
    const bool has_rate = std::any_of(labels.begin(), labels.end(), [&](std::uint32_t number) {
      return predictor_.labels().at(number).nanos_per_byte > 0;
    });
    if (has_rate) {
      one.half_nanos = longer_by({{labels, {.transmission_factor = 2}}});
      one.double_nanos = longer_by({{labels, {.transmission_factor = 0.5}}});
    }
    one.tolerance = find_tolerance(millisecond, with);
    found_.push_back(std::move(one));
  }

  void add_speed(const Object& object) {
    const Labels& labels = object.labels;
    Sensitivity one;
    one.object = object.name;
    const auto with = [&](double percent) {
      const double factor = std::max(0.0, 1 + percent / 100);
      return longer_by({{labels, {.factor = factor, .noise_factor = factor}}});
    };
    one.more_nanos = with(1);
    one.less_nanos = with(-1);
    one.none_nanos = with(-100);
    one.tolerance = find_tolerance(1, with);
    found_.push_back(std::move(one));
  }

  /// Returns how much to add until the run is 1% longer: first doubles `step`, then halves the
  /// interval.
  std::optional<double> find_tolerance(double step,
                                       const std::function<std::int64_t(double)>& longer) const {
    constexpr int doublings = 24, halvings = 20;
    const double wanted = longer_share * static_cast<double>(predictor_.recorded_nanos());
    const auto is_reached = [&](double added) {
      return static_cast<double>(longer(added)) >= wanted;
    };
    double low = 0;
    double high = step;
    for (int times = 0; !is_reached(high); ++times, high *= 2) {
      if (times == doublings) return std::nullopt;
      low = high;
    }
    for (int times = 0; times < halvings; ++times) {
      const double middle = (low + high) / 2;
      (is_reached(middle) ? high : low) = middle;
      if (high - low < high / 1000) break;
    }
    return high;
  }

  const Predictor& predictor_;
  std::vector<Object> objects_;
  std::vector<Sensitivity> found_;
};

}  // namespace

std::vector<Sensitivity> find_sensitivities(const Predictor& predictor) {
  return SensitivityFinder(predictor).find();
}

}  // namespace eventspace
