// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/grid_allgathers.cpp — allgathers of MPICH, MagPIe and MPICH-G2.
#include "collectives/algorithms/grid_allgathers.hpp"

#include "collectives/schedule/exchange.hpp"
#include "collectives/schedule/rounds.hpp"
#include "collectives/schedule/tree.hpp"

namespace collectives {
namespace {

// --- MPICH ---

/// Whether `elements` elements have less than `bytes` bytes in total.
bool is_below(Count elements, Count element_bytes, Count bytes) {
  return elements < (bytes + element_bytes - 1) / element_bytes;
}

bool goes_round(const CollectiveSpec& task, Count element_bytes) {
  constexpr Count short_ones = 80 * 1024;
  constexpr Count long_ones = 512 * 1024;
  return !is_below(task.counts.total(), element_bytes,
                   is_power_of_two(task.size()) ? long_ones : short_ones);
}

void copy_own(Steps& steps, const CollectiveSpec& task, Rank me) {
  steps.copy({out, task.counts.block(me)}, {in, in_range(task, me)});
}

/// Returns a bundle (rounds.hpp) for each member. Each bundle contains only the block of its
/// member.
std::vector<Ref> blocks_of(const CollectiveSpec& task, std::span<const Rank> members) {
  std::vector<Ref> blocks;
  for (const Rank rank : members) blocks.emplace_back(Block{out, task.counts.block(rank)});
  return blocks;
}

Program mpich(const CollectiveSpec& task, const Parameters& parameters, Rank me) {
  return {1, [&task, element_bytes = parameters.number("element"), me](Count, Steps& steps) {
            const Team team = everybody(task.group(), me);
            copy_own(steps, task, me);
            if (goes_round(task, element_bytes)) {
              std::vector<Range> blocks;
              for (const Rank rank : team.members) blocks.push_back(task.counts.block(rank));
              return allgather_ring(steps, {team, blocks, out});
            }
            Rounds rounds(steps);
            allgather_doubling(rounds, team, blocks_of(task, team.members));
          }};
}

Program spreading(const CollectiveSpec& task, const Parameters&, Rank me) {
  return {1, [&task, me](Count, Steps& steps) {
            const Team team = everybody(task.group(), me);
            copy_own(steps, task, me);
            Rounds rounds(steps);
            allgather_spreading(rounds, team, blocks_of(task, team.members));
          }};
}

// --- MagPIe and MPICH-G2 ---

/// Returns one bundle (rounds.hpp) per cluster, with the blocks of the cluster's members.
std::vector<Ref> bundles_of(const CollectiveSpec& task) {
  std::vector<Ref> bundles(task.group().clusters());
  for (std::size_t number = 0; number < bundles.size(); ++number)
    for (const Ref& block : blocks_of(task, task.group().cluster(number)))
      bundles[number].append(block);
  return bundles;
}

/// Sends blocks down a binomial tree whose root is the first member. Each member gets the blocks
/// that it and the members below it lack.
template <class Lacked>
void send_down(Steps& steps, const Team& team, const Lacked& lacked_by) {
  const Shape::Node node = Shape{}.node(team.size(), team.me);
  if (team.me > 0) steps.receive(team[node.parent], lacked_by(team[team.me]));
  for (const std::size_t child : node.children) steps.send(team[child], lacked_by(team[child]));
}

Program magpie(const CollectiveSpec& task, const Parameters&, Rank me) {
  return {1, [&task, me](Count, Steps& steps) {
            const Topology& group = task.group();
            const Team team = my_cluster(group, me);
            const auto block = [&](Rank rank) { return Block{out, task.counts.block(rank)}; };
            copy_own(steps, task, me);
            if (team.me > 0) {
              steps.send(team[0], block(me));
            } else {
              for (const Rank member : team.members.subspan(1))
                steps.receive(member, block(member));
              const std::vector<Rank> coordinators = first_of_clusters(group);
              Rounds rounds(steps);
              allgather_spreading(rounds, {coordinators, group.cluster_of(me)}, bundles_of(task));
            }
            send_down(steps, team, [&](Rank member) {
              Ref others;
              for (const Rank rank : group.order())
                if (rank != member) others.add(block(rank));
              return others;
            });
          }};
}

Program mpich_g2(const CollectiveSpec& task, const Parameters&, Rank me) {
  return {1, [&task, me](Count, Steps& steps) {
            const Topology& group = task.group();
            const Team team = my_cluster(group, me);
            const std::size_t mine = group.cluster_of(me);
            const std::vector<Ref> bundles = bundles_of(task);
            copy_own(steps, task, me);
            Rounds rounds(steps);
            allgather_doubling(rounds, team, blocks_of(task, team.members));
            if (team.me == 0) {
              const std::vector<Rank> coordinators = first_of_clusters(group);
              allgather_doubling(rounds, {coordinators, mine}, bundles);
            }
            Ref remote;
            for (std::size_t number = 0; number < bundles.size(); ++number)
              if (number != mine) remote.append(bundles[number]);
            send_down(steps, team, [&](Rank) { return remote; });
          }};
}

Algorithm allgather_algorithm(
    const std::string& name, const std::string& help,
    const std::function<Program(const CollectiveSpec&, const Parameters&, Rank)>& program) {
  return {.name = name,
          .help = help,
          .collectives = {Collective::allgather},
          .parameters = {},
          .order = {},
          .refusal = {},
          .program = program};
}

}  // namespace

Algorithm mpich_algorithm() {
  Algorithm algorithm =
      allgather_algorithm("mpich",
                          "Doubling below 512 KiB in total for a power of two, otherwise "
                          "dissemination below 80 KiB, otherwise ring (Thakur et al. 2005).",
                          mpich);
  algorithm.parameters = {{.name = "element",
                           .help = "Bytes of an element, to convert the limits to elements.",
                           .fallback = "1",
                           .least = 1}};
  return algorithm;
}

Algorithm spreading_algorithm() {
  return allgather_algorithm("spreading",
                             "Each participant sends the next its block, then each block that it "
                             "received, in rounds that wait.",
                             spreading);
}

Algorithm magpie_algorithm() {
  return allgather_algorithm("magpie",
                             "Gathers at the first of each cluster; these exchange all in rounds "
                             "that wait, and broadcast (Kielmann et al. 1999).",
                             magpie);
}

Algorithm mpich_g2_algorithm() {
  return allgather_algorithm("mpich_g2",
                             "Doubling, or dissemination, in each cluster and then between their "
                             "first, in rounds that wait, and broadcast (Karonis et al. 2003).",
                             mpich_g2);
}

}  // namespace collectives
