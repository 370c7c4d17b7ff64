// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/all.hpp — list of all algorithms.
#pragma once
#include <string_view>
#include <vector>

#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Returns all algorithms. Each one has a file pair in this folder and an entry of all.cpp.
/// Documentation, checks, commands and pricing use this list and know no algorithm by name.
const std::vector<Algorithm>& all_algorithms();
/// Throws: std::invalid_argument if no algorithm has that name; the message suggests a similar one.
const Algorithm& algorithm_named(std::string_view name);

}  // namespace collectives
