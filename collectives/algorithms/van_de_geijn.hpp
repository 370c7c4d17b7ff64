// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/van_de_geijn.hpp — broadcast as scatter and allgather.
#pragma once
#include "collectives/schedule/algorithm.hpp"
#include "collectives/schedule/team.hpp"

namespace collectives {

/// Broadcast in two parts. The root scatters the vector in pieces down a binomial tree, and keeps
/// one piece. Then an allgather sends all pieces to all participants.
Algorithm van_de_geijn_algorithm();

/// Appends the steps of a van de Geijn broadcast within a team. Other algorithms contain these
/// steps. The root is the team's first member. The vector is the range `whole` of the buffer `out`.
/// `allgather_word` selects the allgather algorithm (exchange.hpp).
void van_de_geijn(Steps& steps, const Team& team, Range whole, const std::string& allgather_word);

}  // namespace collectives
