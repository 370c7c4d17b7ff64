// SPDX-License-Identifier: Apache-2.0
// tests/collectives/tuner/instances.hpp — random collectives on random networks, with the time
// of each schedule without noise, and noise of a shared machine.
#pragma once
#include <random>

#include "collectives/tuner/schedules.hpp"
#include "collectives/tuner/search.hpp"

/// Limits for random instances.
struct Ranges {
  std::size_t hosts_most = 128;  ///< maximum number of hosts; must be at least 4
  pricing::Bytes bytes_most = 32 << 20;
  std::size_t messages_most = 1 << 14;  ///< maximum number of messages of a schedule
};

/// Hosts and links, from which the true network and the models are made. The true network has
/// hosts of slightly different speed. A model has each parameter of the true network with a
/// relative error.
struct Site {
  std::vector<std::size_t> clusters;
  pricing::Side local, wide;
  base::Nanos message_cost{0};
  double fold_bytes_per_second = 0;
};
Site random_site(std::mt19937_64& chance, std::size_t hosts_most);
pricing::Network network_of(const Site& site,
                            const std::shared_ptr<const collectives::Topology>& topology);

/// Deviation of a model from the true network. A poor model has larger errors, and does not know
/// the limited receiving rates of hosts.
struct Model {
  double error = 0.03;
  bool has_receiving_sides = true;
};
inline constexpr Model good_model{};
inline constexpr Model poor_model{0.15, false};

/// Source of true times. Runs without noise take these times, and models predict them with errors.
/// The evaluator computes the times on a network whose hosts differ by 5%. Each time then gets a
/// random error of 8% for its family, and of 3% for its configuration.
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

/// A search space with three sets of times: the true times, and the predictions of a good and of a
/// poor model.
struct Arena {
  tuner::Space truth;  ///< space whose predicted times are the true times
  tuner::Space good, poor;
  base::Nanos least{0};        ///< true time of the fastest configuration
  base::Nanos time_of_all{0};  ///< sum of the true times of all configurations
};
struct Instance {
  std::string name;
  Arena ours;   ///< space of all algorithms
  Arena paper;  ///< space of the paper's trees and segments; empty if the collective has no trees
};
/// Returns a random collective on a random network within `ranges`. Elements have 8 bytes.
Instance random_instance(std::uint64_t seed, const Ranges& ranges);

/// Returns the network of `site` as a model knows it, with the model's errors.
pricing::Network network_of_model(std::mt19937_64& chance, const Model& model, const Site& site,
                                  const std::shared_ptr<const collectives::Topology>& topology);

/// Noise of a machine that other programs use too. Times of runs vary by 4%. Bad periods take 15%
/// of the time and last half a second on average. During a bad period, runs take 1.6 times as long.
/// One run in ten has a pause of 0.1 to 30 ms (Pareto distribution). There are 20 ms between two
/// runs.
class SharedNoise {
 public:
  explicit SharedNoise(std::uint64_t seed) : chance_(seed) {}
  base::Nanos disturb(base::Nanos time);

 private:
  std::mt19937_64 chance_;
  double now_ = 0;  // time in milliseconds
  double period_ends_ = 0;
  bool is_bad_ = true;
};

/// Each returns a function that a search calls to run a configuration. The function from
/// exact_run() returns the true time. The function from noisy_run() adds noise to the true time.
tuner::Run exact_run(const tuner::Space& truth);
tuner::Run noisy_run(const tuner::Space& truth, std::uint64_t seed);

/// Quality and cost of searches over many instances.
class Figures {
 public:
  void add(const Arena& arena, const tuner::Outcome& outcome, std::size_t repetitions);

  double runs = 0;            ///< mean number of runs
  double configurations = 0;  ///< mean number of configurations that were run
  std::size_t count() const { return regrets_.size(); }
  double runs_share = 0;       ///< number of runs / number of runs of exhaustive searches
  double time_share = 0;       ///< time of all runs / time of all exhaustive searches
  double mean_time_share = 0;  ///< mean over instances of the quotient in time_share
  double mean() const;         ///< mean regret: chosen configuration's time / least time - 1
  double quantile(double share) const;
  double within(double regret) const;  ///< share of instances with at most this regret

 private:
  std::vector<double> regrets_;
  std::size_t all_runs_ = 0, all_configurations_ = 0, exhaustive_runs_ = 0;
  double time_shares_ = 0, all_time_ = 0, exhaustive_time_ = 0;  // seconds
};
