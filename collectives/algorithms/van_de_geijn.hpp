// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/van_de_geijn.hpp — broadcast as scatter and allgather.
#pragma once
#include "collectives/schedule/algorithm.hpp"
#include "collectives/schedule/team.hpp"

namespace collectives {

/// Scatters the vector in pieces down a binomial tree from the root, which keeps one piece. All
/// participants then gather the pieces.
Algorithm van_de_geijn_algorithm();

/// The same within a team whose first member has all of `whole` in `out`; other algorithms use it.
void van_de_geijn(Steps& steps, const Team& team, Range whole, const std::string& allgather_word);

}  // namespace collectives
