// SPDX-License-Identifier: Apache-2.0
// paths/config/algorithms/exact.cpp — words for a tree in each cluster, and exchange between the
// roots.
//
// The roots push their values to each other (Kielmann et al. 1999), or pull them from each other
// (Bongo et al. 2004).
#include "paths/config/expand/collective.hpp"

namespace paths {
namespace {

AlgorithmWord among_roots(std::string name, std::string help, std::string_view transfer) {
  AlgorithmWord word;
  word.name = std::move(name);
  word.help = std::move(help);
  word.relaxation = "exact";
  word.collectives = {"allreduce"};
  word.over_all_to_all = true;
  word.transfers = {"pull", "push"};
  word.transfer = transfer;
  word.expand = [](expansion::CollectiveExpansion& collective) { collective.write_newest(); };
  return word;
}

}  // namespace

AlgorithmWord magpie_word() {
  return among_roots("magpie", "A tree in each cluster, whose roots pull each other's values.",
                     "pull");
}

AlgorithmWord exact_word() {
  return among_roots("exact", "A tree in each cluster, whose roots push each other their values.",
                     "push");
}

}  // namespace paths
