// SPDX-License-Identifier: Apache-2.0
// paths/config/read_liveness.hpp — intervals at which hosts send signs of life
#pragma once
#include "base/settings.hpp"
#include "paths/plan/plan.hpp"

namespace paths {

/// Reads the key `liveness` of the section `network`: a map with the keys `beat` and `silent`.
void read_liveness(base::MapReader& network, Plan& plan);

/// Checks that `beat` and `silent` are long enough for the plan's longest link. If the config does
/// not have the key `liveness`, derives both durations from this link.
/// Requires: read_liveness() was called, and all wrappers and routes of the plan were read.
void finish_liveness(const base::Settings& network, Plan& plan, base::Mistakes& mistakes);

}  // namespace paths
