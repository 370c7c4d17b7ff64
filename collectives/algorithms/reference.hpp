// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/reference.hpp — reference text about all algorithms.
#pragma once
#include <string>
#include <vector>

#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Returns the text of docs/reference/algorithms.md and `paths algorithms`: for each algorithm its
/// description, its collectives and its parameters. For reductions, the text also states the order
/// of summation that the algorithm has on two clusters of four hosts, with default parameters.
std::string algorithm_reference();

/// Returns a Markdown table with one row per parameter; "" if there are no parameters.
std::string parameter_table(const std::vector<Parameter>& parameters);

}  // namespace collectives
