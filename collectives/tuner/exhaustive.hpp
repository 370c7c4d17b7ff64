// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/exhaustive.hpp — runs of all configurations.
#pragma once
#include "collectives/tuner/search.hpp"

namespace tuner {

/// Runs all configurations, interleaved, `repetitions` times each.
/// Paper: Vadhiyar, Fagg and Dongarra 2004, who compare their searches with exhaustive search.
Outcome exhaustive(const Space& space, const Run& run, const Options& options);

}  // namespace tuner
