// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/van_de_geijn.hpp — broadcast as scatter and allgather.
#pragma once
#include "collectives/schedule/algorithm.hpp"
#include "collectives/schedule/team.hpp"

namespace collectives {

/// Scatters the vector in pieces down a binomial tree from the root, which keeps one piece. All
/// participants then gather the pieces.
Algorithm van_de_geijn_algorithm();

/// Appends the steps of this broadcast within a team, as a part of other algorithms. The vector is
/// the range `whole` of the `out` of the team's first member. `allgather_word` selects the
/// allgather algorithm (exchange.hpp).
void van_de_geijn(Steps& steps, const Team& team, Range whole, const std::string& allgather_word);

}  // namespace collectives
