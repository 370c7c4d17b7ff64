// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/halving.hpp — successive halving of all configurations.
#pragma once
#include "collectives/tuner/search.hpp"

namespace tuner {

/// Runs all configurations once and keeps the faster half. Repeats this with twice as many runs of
/// each configuration per round, up to 16. Ends when one configuration is left. If all runs of a
/// configuration take the same time, one round suffices.
/// The cost grows with the number of configurations, but no model is needed.
Outcome halving(const Space& space, const Run& run, const Options& options);

}  // namespace tuner
