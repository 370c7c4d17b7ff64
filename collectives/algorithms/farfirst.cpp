// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/farfirst.cpp — one message per cluster, then broadcasts in clusters.
#include "collectives/algorithms/farfirst.hpp"

#include "collectives/algorithms/van_de_geijn.hpp"
#include "collectives/schedule/exchange.hpp"
#include "collectives/schedule/exchange_parameters.hpp"

namespace collectives {
namespace {

Program farfirst_program(const CollectiveSpec& task, const Parameters& parameters, Rank me) {
  return {1, [&task, word = parameters.word("allgather"), me](Count, Steps& steps) {
            const Topology& group = task.group();
            const std::size_t mine = group.cluster_of(me);
            const std::size_t home = group.cluster_of(task.root);
            const Block whole{out, task.vector()};
            for (std::size_t next = 1; me == task.root && next < group.clusters(); ++next)
              steps.send(group.cluster((home + next) % group.clusters()).front(), whole);
            if (mine != home && me == group.cluster(mine).front()) steps.receive(task.root, whole);
            const std::size_t first = mine == home ? group.index_in_cluster(task.root) : 0;
            const std::vector<Rank> members = rotated(group.cluster(mine), first);
            const std::size_t size = members.size();
            const Team team{members, (group.index_in_cluster(me) + size - first) % size};
            van_de_geijn(steps, team, task.vector(), word);
          }};
}

}  // namespace

Algorithm farfirst_algorithm() {
  return {.name = "farfirst",
          .help =
              "The root sends all to one host of each other cluster, which broadcast by "
              "scatter and allgather (Matsuda et al. 2006).",
          .collectives = {Collective::broadcast},
          .parameters = {allgather_parameter()},
          .order = {},
          .refusal = wrong_for_clusters,
          .program = farfirst_program};
}

}  // namespace collectives
