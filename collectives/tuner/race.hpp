// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/race.hpp — race between the configurations with the least predicted times.
#pragma once
#include "collectives/tuner/search.hpp"

namespace tuner {

/// Races between the configurations that the model predicts to be fast. It is the default search.
///
/// Start: the race begins with the configuration of least predicted time from each family, if this
///        time is at most 1 + delta times the least predicted time of all families. At most 10
///        configurations start, or 16 if delta is 1 or more.
/// Rounds: there are four rounds, in which each remaining configuration is run 2, 2, 3 and 5 times.
///         The runs of different configurations are interleaved. After each round, a configuration
///         is dropped if its statistic exceeds the least statistic by more than 10%, 5%, 3.3% or
///         2.5%.
/// Neighbours: after the first and the second round, the next longer and the next shorter length of
///             each remaining configuration join the race. A neighbour joins only if its predicted
///             time is at most 1.6 times the predicted time of that configuration. Neighbours that
///             join are first run as often as the remaining configurations were run so far.
/// Exact runs: if Options::is_exact, each configuration is run once, and only the fastest remains.
///             Then the neighbours of the fastest are run once. If a neighbour is faster, the
///             neighbours of this neighbour are also run once.
/// Throws: std::invalid_argument if no configuration has a predicted time.
Outcome race(const Space& space, const Run& run, const Options& options);

}  // namespace tuner
