// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/halving.hpp — successive halving of all configurations.
#pragma once
#include "collectives/tuner/search.hpp"

namespace tuner {

/// Runs all configurations once and keeps the faster half. Further rounds do the same with the
/// remaining configurations. Each round runs a configuration twice as often as the round before,
/// but at most 16 times. The search ends when one configuration is left. If all runs of a
/// configuration take the same time, one round suffices. The number of runs grows with the number
/// of configurations. The search needs no predicted times.
Outcome halving(const Space& space, const Run& run, const Options& options);

}  // namespace tuner
