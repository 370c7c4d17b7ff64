// SPDX-License-Identifier: Apache-2.0
// paths/config/algorithms/sequential.cpp — one tree over all clusters.
//
// Bongo et al. 2004 measure this tree in section V-A.
#include "paths/config/expand/collective.hpp"

namespace paths {

AlgorithmWord sequential_word() {
  AlgorithmWord word;
  word.name = "sequential";
  word.help = "One tree over all clusters, whose root sends the result to all.";
  word.relaxation = "exact";
  word.over_tree = true;
  word.expand = [](expansion::CollectiveExpansion& collective) { collective.write_tree(); };
  return word;
}

}  // namespace paths
