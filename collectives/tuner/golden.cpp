// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/golden.cpp — golden-section search over the lengths of messages.
#include "collectives/tuner/golden.hpp"

#include <cmath>

#include "collectives/tuner/begin.hpp"

namespace tuner {
namespace {

constexpr double golden_section = 0.6180339887498949;
constexpr std::size_t run_all_below = 3;

/// The range of message lengths of one family of configurations that may contain the fastest
/// length.
struct Bracket {
  std::size_t family = 0;
  std::size_t first = 0, last = 0;  // first and last member of the range, inclusive
  bool is_finished = false;

  std::size_t step() const {
    return static_cast<std::size_t>(std::ceil(golden_section * static_cast<double>(last - first)));
  }
  bool is_small() const { return last - first < run_all_below; }
  Configuration longer() const { return {family, last - step()}; }
  Configuration shorter() const { return {family, first + step()}; }
};

/// Appends the configurations whose times the next step of a bracket needs, except configurations
/// that were run before.
void append_needed(const Bracket& bracket, const Experiment& experiment,
                   std::vector<Configuration>& needed) {
  std::vector<Configuration> all;
  if (bracket.is_small())
    for (std::size_t member = bracket.first; member <= bracket.last; ++member)
      all.push_back({bracket.family, member});
  else
    all = {bracket.longer(), bracket.shorter()};
  for (const Configuration one : all)
    if (!experiment.has_run(one)) needed.push_back(one);
}

void shrink(Bracket& bracket, const Experiment& experiment) {
  if (bracket.is_small()) {
    bracket.is_finished = true;
    return;
  }
  const auto longer = experiment.statistic(bracket.longer());
  const auto shorter = experiment.statistic(bracket.shorter());
  if (longer && (!shorter || *longer <= *shorter))
    bracket.last = bracket.shorter().member;
  else
    bracket.first = bracket.longer().member;
}

}  // namespace

Outcome golden(const Space& space, const Run& run, const Options& options) {
  Experiment experiment = begin_experiment(space, run, options);
  std::vector<Bracket> brackets;
  for (std::size_t family = 0; family < space.families.size(); ++family)
    brackets.push_back({family, 0, space.families[family].members.size() - 1});
  bool is_finished = false;
  while (!is_finished) {
    std::vector<Configuration> needed;
    for (const Bracket& bracket : brackets)
      if (!bracket.is_finished) append_needed(bracket, experiment, needed);
    if (!experiment.run_each(needed, options.runs_of_each())) break;
    is_finished = true;
    for (Bracket& bracket : brackets) {
      if (!bracket.is_finished) shrink(bracket, experiment);
      is_finished = is_finished && bracket.is_finished;
    }
  }
  return experiment.choose_among(experiment.all_run());
}

}  // namespace tuner
