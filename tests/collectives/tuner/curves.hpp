// SPDX-License-Identifier: Apache-2.0
// tests/collectives/tuner/curves.hpp — search spaces with known times and no noise.
#pragma once
#include <cmath>
#include <vector>

#include "collectives/tuner/search.hpp"

/// Times in microseconds of the schedules of a family, from the longest messages to the shortest.
using Curve = std::vector<double>;

/// Returns a space with a family for each curve. The curves give the predicted times in
/// microseconds. The first length of each family is the whole message.
inline tuner::Space space_of(const std::vector<Curve>& curves) {
  tuner::Space space;
  for (const Curve& curve : curves) {
    tuner::Family family{"curve " + std::to_string(space.families.size()), {}};
    for (std::size_t i = 0; i < curve.size(); ++i)
      family.members.push_back({i == 0 ? 0 : std::uint64_t{1} << (curve.size() - i + 2),
                                base::Nanos(std::llround(curve[i] * 1000))});
    space.families.push_back(std::move(family));
  }
  return space;
}

/// Returns a function that a search calls to run a configuration. The function returns exactly the
/// predicted time.
inline tuner::Run exact_runs(const tuner::Space& space) {
  return [&space](tuner::Configuration one) { return member_of(space, one).predicted; };
}
