// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/golden.hpp — golden-section search over the lengths of messages.
#pragma once
#include "collectives/tuner/search.hpp"

namespace tuner {

/// Searches the lengths of each family by golden section. It assumes that, from the longest to the
/// shortest messages, times first fall and then rise. When at most three lengths of a family are
/// left, all of them are run. All families take their steps together, so that their runs are
/// interleaved.
Outcome golden(const Space& space, const Run& run, const Options& options);

}  // namespace tuner
