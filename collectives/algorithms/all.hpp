// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/all.hpp — list of all algorithms.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Returns all algorithms. They are defined in this folder and listed in `all.cpp`. Documentation,
/// checks, commands and the prediction of times use only this list, and name no algorithm
/// themselves.
const std::vector<Algorithm>& all_algorithms();
/// Returns nullptr if no algorithm has that name.
const Algorithm* find_algorithm(std::string_view name);
/// Throws: std::invalid_argument if no algorithm has that name; the message suggests a similar one.
const Algorithm& algorithm_named(std::string_view name);
/// Splits a text such as "stretched:exchange=two,stretch=64" at its first colon. Returns the name
/// of the algorithm and the text of its parameters; either can be empty.
std::pair<std::string, std::string> split_at_colon(std::string_view text);

}  // namespace collectives
