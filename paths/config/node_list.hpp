// SPDX-License-Identifier: Apache-2.0
// paths/config/node_list.hpp — lists of node names in Slurm's short form.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace paths {

/// Returns whether the text is a list instead of one name. A list has a bracket or a comma.
bool is_node_list(std::string_view text);

/// Node names of a list: "node[01-03,7],rack[0-1]n[0-1]" stands for node01, node02, node03, node7,
/// rack0n0, rack0n1, rack1n0, rack1n1. Each number of a range has at least as many digits as the
/// first number of the range.
struct NodeList {
  std::vector<std::string> names;
  std::string mistake = {};  ///< error text, such as "character 5: expected ']'"; "" if none
};
/// Reads a list. More than `names_max` names are a mistake.
NodeList read_node_list(std::string_view text, std::size_t names_max);

}  // namespace paths
