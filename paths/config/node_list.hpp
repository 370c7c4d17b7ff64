// SPDX-License-Identifier: Apache-2.0
// paths/config/node_list.hpp — names of nodes in the short form of Slurm.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace paths {

/// Whether the text is a list rather than one name: it has a bracket or a comma.
bool is_node_list(std::string_view text);

/// "node[01-03,7],rack[0-1]n[0-1]" written out: node01, node02, node03, node7, rack0n0, rack0n1,
/// rack1n0, rack1n1. A number has as many digits as the first one of its range.
struct NodeList {
  std::vector<std::string> names;
  std::string mistake = {};  ///< "character 5: expected ']'"; then there are no names
};
/// More than `names_max` names are a mistake.
NodeList read_node_list(std::string_view text, std::size_t names_max);

}  // namespace paths
