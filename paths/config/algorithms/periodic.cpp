// SPDX-License-Identifier: Apache-2.0
// paths/config/algorithms/periodic.cpp — algorithm with an exact result in every N-th round only.
#include "paths/config/expand/collective.hpp"

namespace paths {

AlgorithmWord periodic_word() {
  AlgorithmWord word;
  word.name = "periodic";
  word.help = "Exact in one round of `every`; the others return at once, unchecked.";
  word.settings = {{"every", "integer from 1 to 1000000", "50", "Period of the exact rounds."}};
  word.relaxation = word.name;
  word.collectives = {"allreduce"};
  word.over_tree = word.over_all_to_all = true;
  word.transfers = {"pull", "push"};
  word.transfer = "pull";
  word.expand = [](expansion::CollectiveExpansion& collective) {
    collective.put_above_joins(collective.in_place(
        "periodic", {collective.entry_of("every", collective.algorithm().number("every"))}));
    collective.write_newest();
  };
  return word;
}

}  // namespace paths
