// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/pipeline.cpp — saturation test, chains, and whole trees.
#include "collectives/tuner/pipeline.hpp"

#include "collectives/tuner/begin.hpp"
#include "collectives/tuner/mgd.hpp"

namespace tuner {
namespace {

/// All pairs of hosts may take this many times as long as one pair.
constexpr double saturated = 1.25;

void add_cost(Outcome& outcome, const Outcome& part) {
  outcome.runs += part.runs;
  outcome.void_runs += part.void_runs;
  outcome.time_spent += part.time_spent;
  outcome.was_cancelled = outcome.was_cancelled || part.was_cancelled;
}

/// Sends between one pair of hosts and between all pairs, in turns. The first of the two entries of
/// Outcome::sampled is for one pair.
Outcome send_in_pairs(const Options& options) {
  constexpr std::size_t all = 1;
  const Space counts{{{"pairs of hosts", {{}, {}}}}};
  Experiment experiment(
      counts, [&](Configuration one) { return options.partial.between_pairs(one.member == all); },
      options.seed, options.is_cancelled);
  experiment.run_each(configurations_of(counts), options.runs_of_each());
  return experiment.choose_among(configurations_of(counts));
}

/// Returns whether the samples show that pairs of hosts do not slow each other down. Returns false
/// if there are too few samples.
bool is_unsaturated(const Outcome& pairs) {
  if (pairs.sampled.size() < 2) return false;
  const auto one = pairs.sampled[0].statistic, all = pairs.sampled[1].statistic;
  return one && all &&
         static_cast<double>(all->count()) <= saturated * static_cast<double>(one->count());
}

/// Returns the fastest configuration of each family that has samples.
std::vector<Configuration> fastest_of_families(const Outcome& chains) {
  std::vector<Configuration> fastest;
  std::optional<base::Nanos> least;
  for (const Sampled& one : chains.sampled) {
    if (!one.statistic) continue;
    const bool is_new = fastest.empty() || fastest.back().family != one.configuration.family;
    if (!is_new && *one.statistic >= *least) continue;
    least = one.statistic;
    if (is_new)
      fastest.push_back(one.configuration);
    else
      fastest.back() = one.configuration;
  }
  return fastest;
}

}  // namespace

Outcome pipeline(const Space& space, const Run& run, const Options& options) {
  check_space(space);
  if (!options.partial.on_longest_path || !options.partial.between_pairs)
    return mgd(space, run, options);
  const Outcome pairs = send_in_pairs(options);
  if (pairs.was_cancelled || !is_unsaturated(pairs)) {
    Outcome outcome = mgd(space, run, options);
    add_cost(outcome, pairs);
    return outcome;
  }
  const Outcome chains = mgd(space, options.partial.on_longest_path, options);
  Experiment trees = begin_experiment(space, run, options);
  if (!chains.was_cancelled) trees.run_each(fastest_of_families(chains), options.runs_of_each());
  Outcome outcome = trees.choose_among(trees.all_run());
  add_cost(outcome, pairs);
  add_cost(outcome, chains);
  return outcome;
}

}  // namespace tuner
