// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/two_tier.cpp — allreduce in which only the first host of each cluster
// communicates with other clusters.
#include "collectives/algorithms/two_tier.hpp"

#include "collectives/algorithms/van_de_geijn.hpp"
#include "collectives/schedule/exchange.hpp"
#include "collectives/schedule/exchange_parameters.hpp"

namespace collectives {
namespace {

Program two_tier_program(const CollectiveSpec& task, const Parameters& parameters, Rank me) {
  return {1, [=, &task](Count, Steps& steps) {
            const Topology& group = task.group();
            const Range whole = task.vector();
            const Stretches stretches(whole, 0);
            const Team team = my_cluster(group, me);
            const std::vector<Range> pieces = cut(whole, team.size());
            reduce_scatter(parameters.word("reduce_scatter"), steps,
                           {team, pieces, &stretches, in, part, 0, &task.group()});
            gather_binomial(steps, {team, pieces, part});
            const Block sum{team.size() == 1 ? in : part, whole};
            const std::vector<Rank> first = first_of_clusters(group);
            if (team.me == 0)
              exchange_sums(steps, {first, group.cluster_of(me)}, sum, whole, whole);
            van_de_geijn(steps, team, whole, parameters.word("allgather"));
          }};
}

}  // namespace

Algorithm two_tier_algorithm() {
  return {.name = "two_tier",
          .help =
              "Clusters sum up at one host each, which exchange whole sums and broadcast "
              "(Matsuda et al. 2006).",
          .collectives = {Collective::allreduce},
          .parameters = {reduce_scatter_parameter(), allgather_parameter()},
          .order = order_of_sums,
          .refusal = wrong_for_clusters,
          .program = two_tier_program};
}

}  // namespace collectives
