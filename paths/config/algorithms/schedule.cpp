// SPDX-License-Identifier: Apache-2.0
// paths/config/algorithms/schedule.cpp — words that select a schedule of messages, not a tree.
#include "paths/config/expand/collective.hpp"

namespace paths {

AlgorithmWord best_word() {
  AlgorithmWord word;
  word.name = "best";
  word.help =
      "The schedule with the least predicted time on the config's network. Each algorithm that "
      "`paths algorithms` prints is a word, too, with its parameters after a colon.";
  word.relaxation = "exact";
  word.collectives = {"allreduce"};
  word.is_schedule = true;
  word.expand = [](expansion::CollectiveExpansion& collective) { collective.write_schedule(); };
  return word;
}

AlgorithmWord tuned_word() {
  AlgorithmWord word = best_word();
  word.name = "tuned";
  word.help =
      "The schedule that the table of the config's key `decisions` has for this size; best, if "
      "the table has none.";
  return word;
}

}  // namespace paths
