// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/predict.cpp — choice of a configuration by predicted times only.
#include "collectives/tuner/predict.hpp"

#include "collectives/tuner/begin.hpp"

namespace tuner {

std::optional<Configuration> fastest_predicted(const Space& space, std::size_t family) {
  std::optional<Configuration> fastest;
  for (std::size_t member = 0; member < space.families[family].members.size(); ++member) {
    const Configuration one{family, member};
    const auto time = member_of(space, one).predicted;
    if (time && (!fastest || *time < *member_of(space, *fastest).predicted)) fastest = one;
  }
  return fastest;
}

Outcome predict(const Space& space, const Run&, const Options&) {
  check_space(space);
  Outcome outcome;
  for (std::size_t family = 0; family < space.families.size(); ++family) {
    const auto one = fastest_predicted(space, family);
    if (!one) continue;
    const auto time = *member_of(space, *one).predicted;
    if (outcome.chosen) {
      const auto least = *member_of(space, *outcome.chosen).predicted;
      if (time > least || (time == least && !is_simpler(space, *one, *outcome.chosen))) continue;
    }
    outcome.chosen = one;
  }
  if (!outcome.chosen)
    throw std::invalid_argument("expected predicted times to choose by; the space has none");
  return outcome;
}

}  // namespace tuner
