// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/pipeline.hpp — search for the lengths of messages of trees on chains.
#pragma once
#include "collectives/tuner/search.hpp"

namespace tuner {

/// Finds the length of messages of each tree on the hosts of its longest path only, which form a
/// chain. Then runs each whole tree with this length, and chooses the fastest.
/// 1. Saturation test: sends the vector between one pair of hosts, and between all pairs at the
///    same time, in turns. The network is saturated if all pairs take more than 1.25 times as long.
/// 2. Descends from the longest messages on each chain, as mgd does.
/// 3. Runs each tree with the fastest length of its chain.
///
/// On a saturated network the time of a chain says nothing about the whole tree. The search is then
/// mgd. So it is without Options::partial.
/// Paper: Vadhiyar, Fagg and Dongarra 2004, search with a pipeline. The paper demands the full
///        bandwidth between all hosts, and describes no test for it.
Outcome pipeline(const Space& space, const Run& run, const Options& options);

}  // namespace tuner
