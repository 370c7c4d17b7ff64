// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/experiment.hpp — interleaved runs of configurations, with all their samples.
#pragma once
#include <functional>
#include <map>
#include <random>
#include <span>

#include "collectives/tuner/configurations.hpp"

namespace tuner {

/// Executes the schedule of a configuration once, on all participants. Returns the time of this
/// run. Returns nullopt if the run is void: the run was disturbed, so its time has no meaning.
using Run = std::function<std::optional<base::Nanos>(Configuration)>;

/// Returns whether the search must stop. It is called before each run.
using IsCancelled = std::function<bool()>;

/// Returns the mean of the lower half of the samples. If the number of samples is odd, the middle
/// sample is part of the lower half.
/// Why: Rare but very long runs have no effect on this mean. Unlike the minimum, the mean becomes
///      more exact with more samples.
/// Units: rounded to nanoseconds.
/// Throws: std::invalid_argument if there are no samples.
base::Nanos lower_half_mean(std::vector<base::Nanos> samples);

/// Samples of one configuration.
struct Sampled {
  Configuration configuration;
  std::vector<base::Nanos> samples =
      {};  ///< times in the order of the runs, without void (disturbed) runs
  /// Mean of the lower half of the samples; nullopt if every run was void.
  std::optional<base::Nanos> statistic = {};
};

/// The result of a search.
struct Outcome {
  /// Chosen configuration; nullopt if the search has no samples by which it can choose.
  std::optional<Configuration> chosen = {};
  /// Statistic (lower_half_mean()) of the chosen configuration's times; nullopt if the
  /// configuration was chosen without a run.
  std::optional<base::Nanos> statistic = {};
  std::vector<Sampled> sampled = {};  ///< each configuration that was run, in list order
  std::size_t runs = 0;               ///< number of runs, including void ones
  std::size_t void_runs = 0;
  base::Nanos time_spent{0};  ///< sum of all samples; void runs do not count
  bool was_cancelled = false;
};

/// Runs configurations and keeps their samples.
/// Thread-safe: no.
/// Throws: the exceptions of `run` and `is_cancelled`. The experiment keeps all samples in this
///         case.
class Experiment {
 public:
  /// `seed` determines the random order of the runs.
  /// Requires: `space` outlives the experiment.
  Experiment(const Space& space, Run run, std::uint64_t seed, IsCancelled is_cancelled = {});

  /// Runs each of these configurations once per round. The order is shuffled anew in each round, so
  /// that a slow period affects all configurations alike. At the end of a round, each void run of
  /// the round is repeated once. Returns false if the search was cancelled.
  bool run_each(std::span<const Configuration> configurations, std::size_t rounds);

  bool was_cancelled() const { return was_cancelled_; }
  bool has_run(Configuration configuration) const { return sampled_.contains(configuration); }
  /// Returns lower_half_mean() of the configuration's samples; nullopt if there are no samples.
  std::optional<base::Nanos> statistic(Configuration configuration) const;
  /// Returns the configuration with the least statistic. If several configurations have the least
  /// statistic, returns the simplest of these (is_simpler()). Returns nullopt if no configuration
  /// has samples.
  std::optional<Configuration> fastest_of(std::span<const Configuration> configurations) const;
  /// Returns all configurations that were run, in list order.
  std::vector<Configuration> all_run() const;
  /// Returns the result of the search. The chosen configuration is the fastest of `configurations`.
  /// The samples are those of all configurations that were run.
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
