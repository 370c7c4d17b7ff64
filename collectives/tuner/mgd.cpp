// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/mgd.cpp — modified gradient descent.
#include "collectives/tuner/mgd.hpp"

#include "collectives/tuner/begin.hpp"

namespace tuner {
namespace {

/// State of the descent in one family.
struct Descent {
  std::optional<base::Nanos> best = {};
  std::size_t without_gain = 0;  // number of lengths tried since the fastest length
};

}  // namespace

Outcome mgd(const Space& space, const Run& run, const Options& options) {
  Experiment experiment = begin_experiment(space, run, options);
  std::vector<Descent> descents(space.families.size());
  for (std::size_t member = 0;; ++member) {
    std::vector<Configuration> next;
    for (std::size_t family = 0; family < descents.size(); ++family)
      if (member < space.families[family].members.size() &&
          descents[family].without_gain < options.patience)
        next.push_back({family, member});
    if (next.empty() || !experiment.run_each(next, options.runs_of_each())) break;
    for (const Configuration one : next) {
      Descent& descent = descents[one.family];
      const auto time = experiment.statistic(one);
      const bool is_faster = time && (!descent.best || *time < *descent.best);
      if (is_faster) descent.best = time;
      descent.without_gain = is_faster ? 0 : descent.without_gain + 1;
    }
  }
  return experiment.choose_among(experiment.all_run());
}

}  // namespace tuner
