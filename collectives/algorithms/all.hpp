// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/all.hpp — list of all algorithms.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Returns all algorithms. Each one has a file pair in this folder and an entry of all.cpp.
/// Documentation, checks, commands and pricing use this list and know no algorithm by name.
const std::vector<Algorithm>& all_algorithms();
/// Returns nullptr if no algorithm has that name.
const Algorithm* find_algorithm(std::string_view name);
/// Throws: std::invalid_argument if no algorithm has that name; the message suggests a similar one.
const Algorithm& algorithm_named(std::string_view name);
/// Returns the name and the parameters in a text such as "stretched:exchange=two,stretch=64". Both
/// may be empty.
std::pair<std::string, std::string> split_at_colon(std::string_view text);

}  // namespace collectives
