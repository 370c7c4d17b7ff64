// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/sensitivities.hpp — how a run's time depends on links and hosts.
#pragma once
#include <vector>

#include "eventspace/analysis/attribution/predictor.hpp"
#include "eventspace/analysis/report/predictions.hpp"

namespace eventspace {

/// Predicts how the run's time depends on each object. The objects are each link (each direction,
/// and both together), each network within a cluster, each host and each cluster. Objects with the
/// greatest influence come first. If there are more than 100 objects (fewer in a long run), returns
/// only the objects for which the run waited longest.
///
/// Source: LLAMP (Shen et al. 2024). With fixed decisions, the time of a run is a convex, piecewise
///         linear function of each latency.
std::vector<Sensitivity> find_sensitivities(const Predictor& predictor);

}  // namespace eventspace
