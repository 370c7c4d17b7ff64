// SPDX-License-Identifier: Apache-2.0
// paths/config/algorithms/conditional.cpp — the word for the conditional allreduce.
//
// The root of a cluster waits for other clusters only while the condition of the round is undecided
// (Bongo et al. 2004, section IV).
#include "paths/config/expand/collective.hpp"

namespace paths {

AlgorithmWord conditional_word() {
  AlgorithmWord word;
  word.name = "conditional";
  word.help = "As magpie, but a root waits for the others only while its condition is undecided.";
  word.relaxation = word.name;
  word.collectives = {"allreduce"};
  word.over_all_to_all = true;
  word.transfers = {"pull", "push", "demand", "subscribe"};
  word.transfer = "pull";
  word.needs_proof = true;
  word.expand = [](expansion::CollectiveExpansion& collective) { collective.write_newest(); };
  return word;
}

}  // namespace paths
