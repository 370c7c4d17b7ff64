// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/exchanges.cpp — algorithms made of the exchanges in exchange.hpp.
#include "collectives/algorithms/exchanges.hpp"

#include "collectives/schedule/exchange.hpp"
#include "collectives/schedule/exchange_parameters.hpp"

namespace collectives {
namespace {

/// Returns the block of each member of the team, in the order of the team.
std::vector<Range> blocks_of(const CollectiveSpec& task, const Team& team) {
  std::vector<Range> blocks;
  for (const Rank rank : team.members) blocks.push_back(task.counts.block(rank));
  return blocks;
}

Program gather_all(const CollectiveSpec& task, const std::string& word, Rank me) {
  return {1, [&task, word, me](Count, Steps& steps) {
            const Team team = everybody(task.group(), me);
            const std::vector<Range> pieces = blocks_of(task, team);
            steps.copy({out, pieces[team.me]}, {in, in_range(task, me)});
            allgather(word, steps, {team, pieces, out});
          }};
}

Program scatter_sums(const CollectiveSpec& task, const std::string& word, Rank me) {
  return {1, [&task, word, me](Count, Steps& steps) {
            const Team team = everybody(task.group(), me);
            const std::vector<Range> pieces = blocks_of(task, team);
            const Stretches stretches(task.vector(), 0);
            const Block sum =
                reduce_scatter(word, steps, {team, pieces, &stretches, in, part, 0, &task.group()});
            steps.copy({out, out_range(task, me)}, sum);
          }};
}

/// Returns the exchange with this name as an algorithm.
Algorithm exchange(const std::string& word, const std::string& help,
                   std::vector<Collective> collectives) {
  const auto chosen = [word](const Parameters&) {
    return Parameters().set("allgather", word).set("reduce_scatter", word);
  };
  return {.name = word,
          .help = help,
          .collectives = std::move(collectives),
          .parameters = {},
          .order = [chosen](const CollectiveSpec& task,
                            const Parameters& none) { return order_of_sums(task, chosen(none)); },
          .refusal = [chosen](const CollectiveSpec& task,
                              const Parameters& none) { return wrong_for_all(task, chosen(none)); },
          .program =
              [word](const CollectiveSpec& task, const Parameters&, Rank me) {
                return task.collective == Collective::allgather ? gather_all(task, word, me)
                                                                : scatter_sums(task, word, me);
              }};
}

Program rabenseifner(const CollectiveSpec& task, const Parameters& parameters, Rank me) {
  return {1, [=, &task](Count, Steps& steps) {
            const Topology& group = task.group();
            const bool is_reduce = task.collective == Collective::reduce;
            const Team team = everybody(group, me);
            const std::vector<Range> pieces = cut(task.vector(), team.size());
            const Stretches stretches(task.vector(), 0);
            const bool ends_here = !is_reduce || me == task.root;
            const Block sum =
                reduce_scatter(parameters.word("reduce_scatter"), steps,
                               {team, pieces, &stretches, in, ends_here ? out : part, 0, &group});
            if (ends_here) steps.copy({out, pieces[team.me]}, sum);
            if (!is_reduce)
              return allgather(parameters.word("allgather"), steps, {team, pieces, out});
            const std::size_t first = group.position(task.root);
            const std::vector<Rank> members = rotated(group.order(), first);
            std::vector<Range> turned(pieces);
            std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(first),
                        turned.end());
            const std::size_t index = (team.me + team.size() - first) % team.size();
            gather_binomial(steps, {{members, index}, turned, ends_here ? out : part});
          }};
}

}  // namespace

Algorithm ring_algorithm() {
  return exchange(
      "ring",
      "In each round, every participant passes to its right what it received from its left.",
      {Collective::allgather, Collective::reduce_scatter});
}

Algorithm direct_algorithm() {
  return exchange(
      "direct", "Each participant sends every other its piece, starting with its right neighbour.",
      {Collective::allgather, Collective::reduce_scatter});
}

Algorithm bruck_algorithm() {
  return exchange("bruck", "Twice as many pieces every round, from twice the distance.",
                  {Collective::allgather});
}

Algorithm doubling_algorithm() {
  return exchange("doubling", "Aligned groups exchange all that they have.",
                  {Collective::allgather});
}

Algorithm halving_algorithm() {
  return exchange("halving", "Half of what is left goes to a partner at half the distance.",
                  {Collective::reduce_scatter});
}

Algorithm rabenseifner_algorithm() {
  return {.name = "rabenseifner",
          .help = "Reduce-scatter, then allgather or a binomial gather to the root.",
          .collectives = {Collective::allreduce, Collective::reduce},
          .parameters = {reduce_scatter_parameter(),
                         allgather_parameter("doubling", {Collective::allreduce})},
          .order = order_of_sums,
          .refusal = wrong_for_all,
          .program = rabenseifner};
}

}  // namespace collectives
