// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/exhaustive.cpp — runs of all configurations.
#include "collectives/tuner/exhaustive.hpp"

#include "collectives/tuner/begin.hpp"

namespace tuner {

Outcome exhaustive(const Space& space, const Run& run, const Options& options) {
  Experiment experiment = begin_experiment(space, run, options);
  experiment.run_each(configurations_of(space), options.runs_of_each());
  return experiment.choose_among(experiment.all_run());
}

}  // namespace tuner
