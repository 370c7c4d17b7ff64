// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/reference.hpp — all algorithms described in words, from their
// descriptions.
#pragma once
#include <string>
#include <vector>

#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// What docs/algorithms.md and `paths algorithms` show: for each what it does, for which
/// collectives, its parameters, and the order of its sums over two clusters of four by itself.
std::string algorithm_reference();

/// Markdown, a row each; nothing where there are none.
std::string parameter_table(const std::vector<Parameter>& parameters);

}  // namespace collectives
