// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/halving.cpp — successive halving of all configurations.
#include "collectives/tuner/halving.hpp"

#include <algorithm>
#include <map>

#include "collectives/tuner/begin.hpp"

namespace tuner {
namespace {

constexpr std::size_t most_runs_per_round = 16;

}  // namespace

Outcome halving(const Space& space, const Run& run, const Options& options) {
  Experiment experiment = begin_experiment(space, run, options);
  std::vector<Configuration> live = configurations_of(space);
  for (std::size_t runs = 1; experiment.run_each(live, runs);
       runs = std::min(2 * runs, most_runs_per_round)) {
    if (options.is_exact || live.size() <= 1) break;
    std::map<Configuration, base::Nanos> times;
    for (const Configuration one : live)
      times[one] = experiment.statistic(one).value_or(base::Nanos::max());
    std::stable_sort(live.begin(), live.end(), [&](Configuration left, Configuration right) {
      return times[left] != times[right] ? times[left] < times[right]
                                         : is_simpler(space, left, right);
    });
    live.resize((live.size() + 1) / 2);
    if (live.size() == 1) break;
  }
  return experiment.choose_among(live);
}

}  // namespace tuner
