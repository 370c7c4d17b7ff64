// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/smgd.hpp — scanning modified gradient descent.
#pragma once
#include "collectives/tuner/search.hpp"

namespace tuner {

/// Runs every family with its longest messages. Then it repeatedly runs the next shorter length of
/// one family: the family whose next time is predicted to be the least. The prediction is the last
/// time of the family times the ratio of its last two times. The ratio is 0.75 after the first run.
/// A family is finished after `patience` lengths that are not faster than its fastest one, or if
/// its fastest time exceeds theta times the fastest time of all families. It is also finished if
/// its ratio is above 0.97 and its fastest time exceeds 1.25 times the fastest time of all
/// families.
/// The threshold theta rejects pipelines, which are slow without segmentation.
/// Paper: Vadhiyar, Fagg and Dongarra 2004, Scanning Modified Gradient Descent (SMGD). The paper
///        states neither the threshold nor the prediction.
Outcome smgd(const Space& space, const Run& run, const Options& options);

}  // namespace tuner
