// SPDX-License-Identifier: Apache-2.0
// collectives/tuner/smgd.hpp — scanning modified gradient descent.
#pragma once
#include "collectives/tuner/search.hpp"

namespace tuner {

/// Runs every family with its longest messages. Then the search repeatedly chooses one family and
/// runs it with the next shorter messages. It chooses the family with the least predicted time for
/// this next length. The prediction is the time of the family's latest length, times a ratio: the
/// time of the latest length divided by the time of the length before. When only the first length
/// of the family was run, 0.75 is used as the ratio.
///
/// A family is finished in each of these cases:
/// - It has no shorter length, or all runs of a length were void (experiment.hpp).
/// - None of its latest `patience` lengths was faster than the fastest length before them.
/// - Its fastest time exceeds theta times the fastest time of all families. This rejects pipelines,
///   which are slow without segmentation.
/// - The ratio defined above exceeds 0.97, and its fastest time exceeds 1.25 times the fastest time
///   of all families.
///
/// Paper: Vadhiyar, Fagg and Dongarra 2004, Scanning Modified Gradient Descent (SMGD). The paper
///        states neither the threshold theta nor how it predicts times.
Outcome smgd(const Space& space, const Run& run, const Options& options);

}  // namespace tuner
