// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/experiment.hpp — interleaved runs of configurations, with all their samples.
#pragma once
#include <functional>
#include <map>
#include <random>
#include <span>

#include "collectives/tuner/configurations.hpp"

namespace tuner {

/// Executes the schedule of a configuration once, on all participants. Returns its time, or nothing
/// if the run is void: disturbed, so that its time has no meaning.
using Run = std::function<std::optional<base::Nanos>(Configuration)>;

/// Returns whether the search must stop. Called before each run.
using IsCancelled = std::function<bool()>;

/// Returns the mean of the lower half of the samples, including the middle one of an odd number.
/// Rare but very long runs then have no effect, and more samples make the result more exact.
/// Units: rounded to nanoseconds.
/// Throws: std::invalid_argument if there are no samples.
base::Nanos lower_half_mean(std::vector<base::Nanos> samples);

/// Samples of one configuration.
struct Sampled {
  Configuration configuration;
  std::vector<base::Nanos> samples =
      {};  ///< times in the order of the runs, without void (disturbed) runs
  /// Mean of the lower half of the samples; nothing if every run was void.
  std::optional<base::Nanos> statistic = {};
};

/// The result of a search.
struct Outcome {
  /// Chosen configuration; nothing if there are no samples to choose by.
  std::optional<Configuration> chosen = {};
  /// Statistic (lower_half_mean()) of the chosen configuration's times; nothing if it was chosen
  /// without a run.
  std::optional<base::Nanos> statistic = {};
  std::vector<Sampled> sampled = {};  ///< each configuration that was run, in list order
  std::size_t runs = 0;               ///< number of runs, including void ones
  std::size_t void_runs = 0;
  base::Nanos time_spent{0};  ///< sum of all samples; void runs do not count
  bool was_cancelled = false;
};

/// Runs configurations and keeps their samples.
/// Thread-safe: no.
/// Throws: exceptions of the callbacks; all samples are kept.
class Experiment {
 public:
  /// Requires: `space` outlives the experiment. The seed decides the order of runs.
  Experiment(const Space& space, Run run, std::uint64_t seed, IsCancelled is_cancelled = {});

  /// Runs each of these configurations once per round. The order is shuffled anew in each round, so
  /// that a slow period affects all configurations alike. At the end of a round, its void runs are
  /// repeated once. Returns false if the search was cancelled.
  bool run_each(std::span<const Configuration> configurations, std::size_t rounds);

  bool was_cancelled() const { return was_cancelled_; }
  bool has_run(Configuration configuration) const { return sampled_.contains(configuration); }
  /// Returns nothing if the configuration has no samples.
  std::optional<base::Nanos> statistic(Configuration configuration) const;
  /// Returns the configuration with the least statistic; of several, the simplest (is_simpler()).
  /// Returns nothing if none has samples.
  std::optional<Configuration> fastest_of(std::span<const Configuration> configurations) const;
  /// Returns all configurations that were run, in list order.
  std::vector<Configuration> all_run() const;
  /// Returns the result of a search that chooses the fastest of these configurations.
  Outcome choose_among(std::span<const Configuration> configurations) const;

 private:
  bool run_once(Configuration configuration);
  void shuffle(std::vector<Configuration>& configurations);

  const Space& space_;
  Run run_;
  IsCancelled is_cancelled_;
  std::mt19937_64 random_;
  std::map<Configuration, std::vector<base::Nanos>> sampled_;
  std::size_t runs_ = 0;
  std::size_t void_runs_ = 0;
  base::Nanos time_spent_{0};
  bool was_cancelled_ = false;
};

}  // namespace tuner
