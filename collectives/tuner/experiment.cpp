// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/experiment.cpp — interleaved runs of configurations, with all their samples.
#include "collectives/tuner/experiment.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace tuner {

using base::Nanos;

Nanos lower_half_mean(std::vector<Nanos> samples) {
  if (samples.empty()) throw std::invalid_argument("a mean needs at least one sample");
  std::sort(samples.begin(), samples.end());
  samples.resize((samples.size() + 1) / 2);
  double sum = 0;
  for (const Nanos sample : samples) sum += static_cast<double>(sample.count());
  return Nanos(std::llround(sum / static_cast<double>(samples.size())));
}

Experiment::Experiment(const Space& space, Run run, std::uint64_t seed, IsCancelled is_cancelled)
    : space_(space), run_(std::move(run)), is_cancelled_(std::move(is_cancelled)), random_(seed) {}

bool Experiment::run_each(std::span<const Configuration> configurations, std::size_t rounds) {
  std::vector<Configuration> order(configurations.begin(), configurations.end());
  for (std::size_t round = 0; round < rounds; ++round) {
    shuffle(order);
    std::vector<Configuration> again;
    for (const Configuration one : order) {
      const std::size_t voids = void_runs_;
      if (!run_once(one)) return false;
      if (void_runs_ > voids) again.push_back(one);
    }
    for (const Configuration one : again)
      if (!run_once(one)) return false;
  }
  return !was_cancelled_;
}

/// Runs a configuration once and records its time. Returns false, without a run, if the search was
/// cancelled.
bool Experiment::run_once(Configuration configuration) {
  was_cancelled_ = was_cancelled_ || (is_cancelled_ && is_cancelled_());
  if (was_cancelled_) return false;
  const std::optional<Nanos> time = run_(configuration);
  ++runs_;
  std::vector<Nanos>& samples = sampled_[configuration];
  if (time) {
    samples.push_back(*time);
    time_spent_ += *time;
  } else {
    ++void_runs_;
  }
  return true;
}

/// Shuffles by the algorithm of Fisher and Yates. std::shuffle() would give different orders on
/// different platforms.
void Experiment::shuffle(std::vector<Configuration>& configurations) {
  for (std::size_t left = configurations.size(); left > 1; --left)
    std::swap(configurations[left - 1], configurations[random_() % left]);
}

std::optional<Nanos> Experiment::statistic(Configuration configuration) const {
  const auto found = sampled_.find(configuration);
  if (found == sampled_.end() || found->second.empty()) return std::nullopt;
  return lower_half_mean(found->second);
}

std::optional<Configuration> Experiment::fastest_of(
    std::span<const Configuration> configurations) const {
  std::optional<Configuration> fastest;
  std::optional<Nanos> least;
  for (const Configuration one : configurations) {
    const std::optional<Nanos> time = statistic(one);
    if (!time) continue;
    if (!least || *time < *least || (*time == *least && is_simpler(space_, one, *fastest))) {
      least = time;
      fastest = one;
    }
  }
  return fastest;
}

std::vector<Configuration> Experiment::all_run() const {
  std::vector<Configuration> all;
  for (const auto& [configuration, samples] : sampled_) all.push_back(configuration);
  return all;
}

Outcome Experiment::choose_among(std::span<const Configuration> configurations) const {
  Outcome outcome{.chosen = fastest_of(configurations),
                  .runs = runs_,
                  .void_runs = void_runs_,
                  .time_spent = time_spent_,
                  .was_cancelled = was_cancelled_};
  if (outcome.chosen) outcome.statistic = statistic(*outcome.chosen);
  for (const auto& [configuration, samples] : sampled_)
    outcome.sampled.push_back({configuration, samples, statistic(configuration)});
  return outcome;
}

}  // namespace tuner
