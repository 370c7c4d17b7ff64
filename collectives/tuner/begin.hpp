// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/begin.hpp — first steps of all searches: checks of the space.
#pragma once
#include <stdexcept>

#include "collectives/tuner/search.hpp"

namespace tuner {

/// Checks that a search can choose from the space.
/// Throws: std::invalid_argument if the space has no families, or if a family has no
///         configurations.
inline void check_space(const Space& space) {
  if (space.families.empty())
    throw std::invalid_argument("expected configurations to choose from; the space is empty");
  for (const Family& family : space.families)
    if (family.members.empty())
      throw std::invalid_argument("expected lengths of messages; \"" + family.name + "\" has none");
}

/// Returns a new experiment for a search.
/// Throws: std::invalid_argument if the space is empty (check_space()).
inline Experiment begin_experiment(const Space& space, const Run& run, const Options& options) {
  check_space(space);
  return {space, run, options.seed, options.is_cancelled};
}

/// Returns the configuration with the least predicted time in one family. If several configurations
/// have that time, returns the configuration with the longest messages. Returns nullopt if no
/// configuration of the family has a predicted time.
std::optional<Configuration> fastest_predicted(const Space& space, std::size_t family);

}  // namespace tuner
