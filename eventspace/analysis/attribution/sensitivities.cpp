// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/sensitivities.cpp — predictions with slightly changed latencies
// and computing times.
#include "eventspace/analysis/attribution/sensitivities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace eventspace {
namespace {

constexpr double millisecond = 1e6;
// Limits of the number of objects. Each object needs about 12 predictions. For a long run, fewer
// objects are examined, so that all predictions take about a minute.
constexpr std::size_t objects_max = 100, objects_least = 10;
constexpr std::size_t moments_of_all_objects = 400'000'000;
// A change equal to the tolerance makes the run longer by this share of its time.
constexpr double longer_share = 0.01;

class SensitivityFinder {
 public:
  explicit SensitivityFinder(const Predictor& predictor) : predictor_(predictor) {}

  std::vector<Sensitivity> find() {
    add_links();
    add_networks();
    add_computing();
    choose();
    for (const Object& one : objects_)
      found_.push_back(one.is_latency ? of_latency(one) : of_speed(one));
    std::erase_if(found_, [](const Sensitivity& one) { return one.object.empty(); });
    std::stable_sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) {
      return std::max(a.more_nanos, -a.none_nanos) > std::max(b.more_nanos, -b.none_nanos);
    });
    return std::move(found_);
  }

 private:
  using Labels = std::vector<std::uint32_t>;
  /// An object whose influence on the run is examined: a link, network, host or cluster.
  struct Object {
    std::string name;
    Labels labels;
    bool is_latency = false;
    std::int64_t nanos = 0;  // time of `labels` on the recorded critical path
  };

  const Structure& structure() const { return predictor_.structure(); }
  std::int64_t longer_by(const std::vector<Change>& changes) const {
    return predictor_.run_nanos(changes) - predictor_.recorded_nanos();
  }

  /// Keeps the objects whose labels have the most time on the critical path.
  void choose() {
    const Prediction recorded = predictor_.predict({});
    for (Object& one : objects_)
      for (const std::uint32_t label : one.labels)
        add_to(one.nanos, recorded.critical_nanos[label]);
    std::stable_sort(objects_.begin(), objects_.end(),
                     [](const Object& a, const Object& b) { return a.nanos > b.nanos; });
    const std::size_t most =
        std::clamp(moments_of_all_objects / std::max<std::size_t>(1, predictor_.moments().count()),
                   objects_least, objects_max);
    if (objects_.size() > most) objects_.resize(most);
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

  /// Predicts the sensitivity to the object's latency. Returns an empty Sensitivity if the object
  /// has no latency.
  Sensitivity of_latency(const Object& object) const {
    const Labels& labels = object.labels;
    Sensitivity one;
    one.object = object.name;
    one.is_latency = true;
    for (const std::uint32_t number : labels)
      one.latency_nanos = std::max(one.latency_nanos, predictor_.latency_nanos_of(number));
    if (one.latency_nanos <= 0) return {};
    const auto with = [&](double more) {
      return longer_by(predictor_.with_latencies(
          labels, [&](double latency) { return std::max(0.0, latency + more); }));
    };
    one.more_nanos = with(millisecond);
    one.less_nanos = with(-millisecond);
    one.none_nanos = with(-one.latency_nanos);
    const bool has_rate = std::any_of(labels.begin(), labels.end(), [&](std::uint32_t number) {
      const TimeLabel& label = predictor_.labels().at(number);
      return label.cause == TimeCause::link_latency && label.nanos_per_byte > 0;
    });
    if (has_rate) {
      one.half_nanos = longer_by({{labels, {.transmission_factor = 2}}});
      one.double_nanos = longer_by({{labels, {.transmission_factor = 0.5}}});
    }
    one.tolerance = find_tolerance(millisecond, one.more_nanos, with);
    return one;
  }

  Sensitivity of_speed(const Object& object) const {
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
    one.tolerance = find_tolerance(1, one.more_nanos, with);
    return one;
  }

  /// Returns how much latency or computing must be added to make the run 1% longer; nullopt if no
  /// addition makes it so long. `of_step` is the effect of adding `step`. A search is needed,
  /// because the time of a run is a convex function of the added amount, not a linear one.
  std::optional<double> find_tolerance(double step, std::int64_t of_step,
                                       const std::function<std::int64_t(double)>& longer) const {
    constexpr int tries = 12;
    const double wanted = longer_share * static_cast<double>(predictor_.recorded_nanos());
    double low = 0, high = step;
    double at_low = 0, at_high = static_cast<double>(of_step);
    for (int times = 0; at_high < wanted; ++times) {
      if (times == tries) return std::nullopt;
      low = high;
      at_low = at_high;
      high = at_high > 0 ? std::min(high * wanted / at_high * 1.001, 8 * high) : 8 * high;
      at_high = static_cast<double>(longer(high));
    }
    for (int times = 0; times < 2 * tries && high - low > high / 200; ++times) {
      // Alternates between linear interpolation and bisection.
      const double by_line = low + (high - low) * (wanted - at_low) / (at_high - at_low);
      const double at = times % 2 == 0 ? by_line : (low + high) / 2;
      const auto nanos = static_cast<double>(longer(at));
      if (std::abs(nanos - wanted) <= wanted / 1000) return at;
      (nanos < wanted ? low : high) = at;
      (nanos < wanted ? at_low : at_high) = nanos;
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
