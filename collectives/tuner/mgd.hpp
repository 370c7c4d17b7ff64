// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/mgd.hpp — modified gradient descent.
#pragma once
#include "collectives/tuner/search.hpp"

namespace tuner {

/// Descends from the longest messages to shorter messages, separately in each family. The descent
/// of a family ends after `patience` consecutive lengths that are not faster than the fastest
/// length so far. The descent therefore passes small local minima. It misses the minimum if the
/// time stays the same over more than `patience` lengths and then falls. The descents of all
/// families are interleaved.
/// Paper: Vadhiyar, Fagg and Dongarra 2004, Modified Gradient Descent (MGD). The paper does not
///        state the patience; 3 fits the numbers of runs in its Table 2.
Outcome mgd(const Space& space, const Run& run, const Options& options);

}  // namespace tuner
