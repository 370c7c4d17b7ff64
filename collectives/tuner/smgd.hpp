// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/smgd.hpp — scanning modified gradient descent.
#pragma once
#include "collectives/tuner/search.hpp"

namespace tuner {

/// Runs every family with its longest messages. Then it repeatedly chooses one family and runs it
/// with its next shorter message length. It chooses the family with the least predicted time for
/// that length. The prediction is the time of the family's latest length, times the ratio of the
/// times of its latest two lengths. After a family's first length the ratio is taken to be 0.75.
///
/// A family is finished in each of these cases:
/// - It has no shorter length, or all runs of a length were void (experiment.hpp).
/// - None of its latest lengths, `patience` in number, was faster than the fastest one before them.
/// - Its fastest time exceeds theta times the fastest time of all families. This rejects pipelines,
///   which are slow without segmentation.
/// - Its ratio is above 0.97, and its fastest time exceeds 1.25 times the fastest time of all
///   families.
///
/// Paper: Vadhiyar, Fagg and Dongarra 2004, Scanning Modified Gradient Descent (SMGD). The paper
///        states neither the threshold nor the prediction.
Outcome smgd(const Space& space, const Run& run, const Options& options);

}  // namespace tuner
