// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/reference.hpp — reference text about all algorithms.
#pragma once
#include <string>
#include <vector>

#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Returns the text of docs/reference/algorithms.md and `paths algorithms`: for each algorithm its
/// description, collectives, parameters, and the order of its sums over two clusters of four by
/// default.
std::string algorithm_reference();

/// Returns a Markdown table with one row per parameter; "" if there are none.
std::string parameter_table(const std::vector<Parameter>& parameters);

}  // namespace collectives
