// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/all.hpp — the list of all algorithms.
#pragma once
#include <string_view>
#include <vector>

#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Each has a file pair here and a line in all.cpp. What is made of them (docs, checks, commands,
/// prices) goes through this list and knows none of them by name.
const std::vector<Algorithm>& all_algorithms();
/// Throws: std::invalid_argument for a name that none has, with the one that was probably meant.
const Algorithm& algorithm_named(std::string_view name);

}  // namespace collectives
