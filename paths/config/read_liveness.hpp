// SPDX-License-Identifier: Apache-2.0
// paths/config/read_liveness.hpp — times of signs of life
#pragma once
#include "base/settings.hpp"
#include "paths/plan/plan.hpp"

namespace paths {

/// Reads `liveness` of the network, a map with the keys `beat` and `silent`.
void read_liveness(base::MapReader& network, Plan& plan);

/// Checks that the times for signs of life suffice for the plan's longest link. Derives these times
/// if the config does not state them.
/// Requires: read_liveness() was called, and all wrappers and ways of the plan were read.
void finish_liveness(const base::Settings& network, Plan& plan, base::Mistakes& mistakes);

}  // namespace paths
