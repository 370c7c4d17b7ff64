// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/race.hpp — race between the configurations with the least predicted times.
#pragma once
#include "collectives/tuner/search.hpp"

namespace tuner {

/// Races between the configurations that the model predicts to be fast. It is the default search.
///
/// Entrants: from each family, the configuration with the least predicted time. It enters only if
///           this time is at most 1 + delta times the least predicted time of all families. At most
///           10 configurations enter, or 16 if delta is 1 or more.
/// Rounds: there are four rounds. In each of them, every remaining entrant is run 2, 2, 3 or 5
///         times, interleaved. Then the entrants are dropped whose statistic exceeds the least
///         statistic by more than 10%, 5%, 3.3% or 2.5%.
/// Neighbours: after the first and the second round, the next longer and the next shorter length of
///             each remaining entrant enter too. Their predicted time must be at most 1.6 times
///             that of the entrant. They are first run as often as the other entrants have been.
/// Exact runs: each entrant is run once, and only the fastest remains. Then its neighbours are run
///             once. If one of them is faster, the neighbours of that one are run as well.
/// Throws: std::invalid_argument if no configuration has a predicted time.
Outcome race(const Space& space, const Run& run, const Options& options);

}  // namespace tuner
