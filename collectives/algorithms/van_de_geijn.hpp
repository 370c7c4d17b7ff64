// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/van_de_geijn.hpp — broadcast as scatter and allgather.
#pragma once
#include "collectives/schedule/algorithm.hpp"
#include "collectives/schedule/team.hpp"

namespace collectives {

/// The vector in pieces down a binomial tree from the root, who has one itself; then all gather
/// them.
Algorithm van_de_geijn_algorithm();

/// The same among a team whose first member has all of `whole` in `out`: a part of other ones.
void van_de_geijn(Steps& steps, const Team& team, Range whole, const std::string& allgather_word);

}  // namespace collectives
