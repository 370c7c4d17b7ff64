// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/stretched.hpp — pipelined two-level broadcast and allreduce.
#pragma once
#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// The broadcast and allreduce of Matsuda et al. 2006, repeated for every stretch (section) of the
/// vector. Transfers of different stretches overlap: transfers inside clusters, transfers between
/// clusters, and the sends of the root. The owners of pieces rotate from stretch to stretch. Over
/// several stretches, all hosts of two clusters thus exchange data with each other. The root of a
/// broadcast never owns a piece, because its network must send every byte once anyway. For long
/// vectors the time approaches the lower bound.
Algorithm stretched_algorithm();

}  // namespace collectives
