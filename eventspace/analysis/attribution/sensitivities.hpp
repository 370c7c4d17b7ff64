// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/sensitivities.hpp — how the run depends on links and hosts.
#pragma once
#include <vector>

#include "eventspace/analysis/attribution/predictor.hpp"
#include "eventspace/analysis/report/predictions.hpp"

namespace eventspace {

/// Returns for each link in each direction and in both, each network within a cluster, each host
/// and each cluster how the run depends on it. The objects on which it depends most come first. If
/// there are more than 100, or fewer in a long run, takes those for which the run waited longest.
///
/// Source: LLAMP (Shen et al. 2024): with fixed decisions, the time of a run is a convex function
///         of one latency, which consists of straight pieces.
std::vector<Sensitivity> find_sensitivities(const Predictor& predictor);

}  // namespace eventspace
