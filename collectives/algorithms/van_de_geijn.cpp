// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/van_de_geijn.cpp — broadcast in a team that is rotated so that the root
// comes first.
#include "collectives/algorithms/van_de_geijn.hpp"

#include "collectives/schedule/exchange.hpp"
#include "collectives/schedule/exchange_parameters.hpp"

namespace collectives {
namespace {

Program van_de_geijn_program(const CollectiveSpec& task, const Parameters& parameters, Rank me) {
  return {1, [&task, word = parameters.word("allgather"), me](Count, Steps& steps) {
            const Topology& group = task.group();
            const std::size_t first = group.position(task.root);
            const std::vector<Rank> members = rotated(group.order(), first);
            const std::size_t size = members.size();
            const Team team{members, (group.position(me) + size - first) % size};
            van_de_geijn(steps, team, task.vector(), word);
          }};
}

}  // namespace

void van_de_geijn(Steps& steps, const Team& team, Range whole, const std::string& allgather_word) {
  const std::vector<Range> pieces = cut(whole, team.size());
  const Gathering gathering{team, pieces, out, 0};
  scatter_binomial(steps, gathering);
  allgather(allgather_word, steps, gathering);
}

Algorithm van_de_geijn_algorithm() {
  return {.name = "van_de_geijn",
          .help = "Scatter down a binomial tree, then allgather; groups are ignored.",
          .collectives = {Collective::broadcast},
          .parameters = {allgather_parameter()},
          .order = {},
          .refusal = wrong_for_all,
          .program = van_de_geijn_program};
}

}  // namespace collectives
