// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/race.hpp — race between the configurations with the least predicted times.
#pragma once
#include "collectives/tuner/search.hpp"

namespace tuner {

/// Races between the configurations that the model predicts to be fast. It is the default search.
///
/// Entrants: the configuration of each family with the least predicted time, if that is at most
///           1 + delta times the least one of all. At most 10 take part, 16 if delta is 1 or more.
/// Rounds: all entrants are run 2, 2, 3 and 5 times, interleaved. After each of these rounds, those
///         are dropped whose statistic exceeds the least one by more than 10%, 5%, 3.3% and 2.5%.
/// Neighbours: after the first and the second round, the lengths next to those of the remaining
///             entrants join, if they are predicted to take at most 1.6 times as long. They are
///             first run as often as the others have been.
/// Exact runs: each entrant is run once, and only the fastest remains. Its neighbours are run once;
///             if one is faster, its neighbours too.
/// Throws: std::invalid_argument if no configuration has a predicted time.
Outcome race(const Space& space, const Run& run, const Options& options);

}  // namespace tuner
