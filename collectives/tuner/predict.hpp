// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/predict.hpp — choice of a configuration by predicted times only.
#pragma once
#include "collectives/tuner/search.hpp"

namespace tuner {

/// Chooses the configuration with the least predicted time. Runs nothing.
/// Throws: std::invalid_argument if no configuration has a predicted time.
Outcome predict(const Space& space, const Run& run, const Options& options);

}  // namespace tuner
