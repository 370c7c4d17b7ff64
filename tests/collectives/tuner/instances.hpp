// SPDX-License-Identifier: Apache-2.0
// tests/collectives/tuner/instances.hpp — random collectives on random networks whose true times
// are known, and noise of a shared machine.
#pragma once
#include <random>

#include "collectives/tuner/schedules.hpp"
#include "collectives/tuner/search.hpp"

/// Ranges of random instances.
struct Ranges {
  std::size_t hosts_most = 128;  ///< at least 4
  pricing::Bytes bytes_most = 32 << 20;
  std::size_t messages_most = 1 << 14;  ///< messages of a schedule
};

/// Hosts and links, from which the true network and the models are made. The true network has
/// hosts of slightly different speed. A model knows each parameter with a relative error.
struct Site {
  std::vector<std::size_t> clusters;
  pricing::Side local, wide;
  base::Nanos message_cost{0};
  double fold_bytes_per_second = 0;
};
Site random_site(std::mt19937_64& chance, std::size_t hosts_most);
pricing::Network network_of(const Site& site,
                            const std::shared_ptr<const collectives::Topology>& topology);

/// The errors of a model. A poor model knows nothing of receiving sides.
struct Model {
  double error = 0.03;
  bool has_receiving_sides = true;
};
inline constexpr Model good_model{};
inline constexpr Model poor_model{0.15, false};

/// True times: those of the evaluator on a network whose hosts differ by 5%, with a bias of 8% for
/// each family and a ripple of 3% for each configuration.
class Truth {
 public:
  Truth(std::uint64_t seed, const Site& site,
        const std::shared_ptr<const collectives::Topology>& topology);
  /// Returns a space whose predicted times are the true times.
  tuner::Space space(const std::vector<pricing::Family>& families,
                     const collectives::CollectiveSpec& task, std::size_t messages_most) const;

 private:
  std::uint64_t seed_;
  pricing::Network network_;
};

/// A search space, its true times and those of two models.
struct Arena {
  tuner::Space truth;  ///< with the true times as predicted times
  tuner::Space good, poor;
  base::Nanos least{0};        ///< least true time
  base::Nanos time_of_all{0};  ///< sum of all true times
};
struct Instance {
  std::string name;
  Arena ours;   ///< all algorithms
  Arena paper;  ///< the paper's trees and segments; empty for collectives without trees
};
/// Arrays have elements of 8 bytes.
Instance random_instance(std::uint64_t seed, const Ranges& ranges);

/// Returns the network that a model believes in.
pricing::Network network_of_model(std::mt19937_64& chance, const Model& model, const Site& site,
                                  const std::shared_ptr<const collectives::Topology>& topology);

/// The noise of a machine that others use too. Each run differs by 4%. In bad periods of half a
/// second on average, 15% of the time, runs take 1.6 times as long. One run in ten has a pause of
/// 0.1 to 30 ms (Pareto distribution). There are 20 ms between two runs.
class SharedNoise {
 public:
  explicit SharedNoise(std::uint64_t seed) : chance_(seed) {}
  base::Nanos disturb(base::Nanos time);

 private:
  std::mt19937_64 chance_;
  double now_ = 0;  // milliseconds
  double period_ends_ = 0;
  bool is_bad_ = true;
};

/// Returns runs with the true times, exact or with noise.
tuner::Run exact_run(const tuner::Space& truth);
tuner::Run noisy_run(const tuner::Space& truth, std::uint64_t seed);

/// Quality and cost of searches over many instances.
class Figures {
 public:
  void add(const Arena& arena, const tuner::Outcome& outcome, std::size_t repetitions);

  double runs = 0;            ///< mean number of runs
  double configurations = 0;  ///< mean number of configurations that were run
  std::size_t count() const { return regrets_.size(); }
  double runs_share = 0;       ///< runs of all instances / runs of exhaustive searches
  double time_share = 0;       ///< time of all instances / time of exhaustive searches
  double mean_time_share = 0;  ///< mean of the shares of time of each instance
  double mean() const;         ///< mean regret
  double quantile(double share) const;
  double within(double regret) const;  ///< share of instances with at most this regret

 private:
  std::vector<double> regrets_;
  std::size_t all_runs_ = 0, all_configurations_ = 0, exhaustive_runs_ = 0;
  double time_shares_ = 0, all_time_ = 0, exhaustive_time_ = 0;  // seconds
};
