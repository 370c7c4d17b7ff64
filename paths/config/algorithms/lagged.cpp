// SPDX-License-Identifier: Apache-2.0
// paths/config/algorithms/lagged.cpp — exact results of every round, several rounds late.
//
// The word `lagged` sends one round per message. The word `budget` sends several rounds per
// message.
#include "paths/config/expand/collective.hpp"
#include "paths/joins/cluster_tuples.hpp"

namespace paths {
namespace {

using expansion::CollectiveExpansion;

/// Writes a collective whose results are `rounds` rounds late. Each message between its clusters
/// has the values of `every` rounds.
void write_late(CollectiveExpansion& collective, std::uint64_t rounds, std::uint64_t every) {
  const auto late = collective.entry_of("rounds", rounds);
  if (!collective.is_among_clusters()) {
    collective.put_below_clusters(collective.in_place("lagged", {late}));
    return collective.write_tree();
  }
  expansion::Telling telling;
  telling.check = "lagged_check";
  telling.settings = {late, collective.entry_of("every", every)};
  telling.tuple = batch_template();
  // The element must keep every batch of its cluster that another cluster has not read yet. Suppose
  // that the cluster is in round i. It has read values of round i - rounds from every other
  // cluster, so every other cluster has reached that round. Every other cluster has therefore read
  // the cluster's values up to round i - 2 * rounds. At most 2 * rounds / every batches are unread;
  // 3 more batches allow for rounding. A cluster axes the batches that it has read.
  telling.kept = 2 * rounds / every + 3;
  telling.skips = false;
  collective.write_all_to_all(telling);
}

}  // namespace

AlgorithmWord lagged_word() {
  AlgorithmWord word;
  word.name = "lagged";
  word.help = "The exact result of an earlier round.";
  word.settings = {
      {"rounds", "integer from 1 to 1000000", "2", "Number of rounds by which a result is late."}};
  word.relaxation = word.name;
  word.collectives = {"allreduce"};
  word.over_tree = word.over_all_to_all = true;
  word.transfer = "push";
  word.expand = [](CollectiveExpansion& collective) {
    write_late(collective, collective.algorithm().number("rounds"), 1);
  };
  return word;
}

AlgorithmWord budget_word() {
  AlgorithmWord word;
  word.name = "budget";
  word.help = "As lagged, with the values of several rounds in one message.";
  word.settings = {
      {"horizon", "integer from 1 to 1000000", "32", "Number of rounds by which a result is late."},
      {"every", "integer from 1 to 1000000", "16", "Rounds in one message, at most the horizon."}};
  word.relaxation = word.name;
  word.collectives = {"allreduce"};
  word.over_all_to_all = true;
  word.transfer = "push";
  word.expand = [](CollectiveExpansion& collective) {
    const Algorithm& algorithm = collective.algorithm();
    write_late(collective, algorithm.number("horizon"), algorithm.number("every"));
  };
  return word;
}

}  // namespace paths
