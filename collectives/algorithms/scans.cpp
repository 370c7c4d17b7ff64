// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/scans.cpp — chain scans, global and per cluster.
#include "collectives/algorithms/scans.hpp"

#include "collectives/schedule/fold.hpp"
#include "collectives/schedule/stretches.hpp"
#include "collectives/schedule/team.hpp"
#include "collectives/schedule/tree.hpp"

namespace collectives {
namespace {

struct Sums {
  Block before;  // sum of the earlier members of the chain; empty at the first member
  Block with_me;
};

/// Computes prefix sums along the team: each member receives the sum of the members before it. The
/// member receives that sum into the block `theirs`. It adds its own operand and writes the result
/// to the block `both`. The last member of the team computes `both` only if `wants` is true.
Sums chain(Steps& steps, const Team& team, Range cells, Block theirs, Block both, bool wants) {
  Sums sums{{}, {in, cells}};
  if (team.me > 0) {
    sums = {theirs, both};
    steps.receive(team[team.me - 1], theirs);
    if (wants || team.me + 1 < team.size()) steps.reduce(both, theirs, {in, cells});
  }
  if (team.me + 1 < team.size()) steps.send(team[team.me + 1], sums.with_me);
  return sums;
}

Block child(Rank rank, Range scratch) { return {{Storage::child, rank}, scratch}; }

Program chain_program(const CollectiveSpec& task, const Parameters& parameters, Rank me) {
  const Stretches segments(task.vector(), parameters.number("segment"));
  return {segments.count(), [=, &task](Count portion, Steps& steps) {
            const Range cells = segments[portion];
            const Range scratch = segments.scratch(cells);
            const bool is_scan = task.collective == Collective::scan;
            const Block result{out, cells};
            const Block theirs = is_scan ? child(me - 1, scratch) : result;
            const Block both = is_scan ? result : Block{{Storage::folded, 1}, scratch};
            std::vector<Rank> ranks(task.size());
            for (Rank rank = 0; rank < task.size(); ++rank) ranks[rank] = rank;
            const Sums sums = chain(steps, {ranks, me}, cells, theirs, both, is_scan);
            if (is_scan) steps.copy(result, sums.with_me);
          }};
}

/// Appends the steps that compute the sum of all clusters before this cluster. Returns the block
/// with that sum; the block is empty in the first cluster. `total` is the sum of this cluster, at
/// the last member of the cluster. The last member of each cluster sends this sum to the first
/// member of each later cluster. The first member adds the received sums and broadcasts the result
/// in its cluster.
Block before_cluster(Steps& steps, const Topology& group, Rank me, Block total, Range scratch) {
  const Team team = my_cluster(group, me);
  const std::size_t mine = group.cluster_of(me);
  if (team.me + 1 == team.size())
    for (std::size_t later = mine + 1; later < group.clusters(); ++later)
      steps.send(group.cluster(later).front(), total, 1);
  if (mine == 0) return {};
  Block before{{Storage::forwarded}, scratch};
  if (team.me == 0) {
    std::vector<Block> operands;
    for (std::size_t earlier = 0; earlier < mine; ++earlier) {
      operands.push_back({{Storage::across, static_cast<std::uint32_t>(earlier)}, scratch});
      steps.receive(group.cluster(earlier).back(), operands.back(), 1);
    }
    before = fold(steps, operands, before);
  }
  const Shape::Node node = Shape{}.node(team.size(), team.me);
  if (team.me > 0) steps.receive(team[node.parent], before, 1);
  for (const std::size_t next : node.children) steps.send(team[next], before, 1);
  return before;
}

Program clusters_program(const CollectiveSpec& task, const Parameters& parameters, Rank me) {
  const Stretches segments(task.vector(), parameters.number("segment"));
  return {segments.count(), [=, &task](Count portion, Steps& steps) {
            const Range cells = segments[portion];
            const Range scratch = segments.scratch(cells);
            const Topology& group = task.group();
            const Team team = my_cluster(group, me);
            const bool is_scan = task.collective == Collective::scan;
            const bool has_later = group.cluster_of(me) + 1 < group.clusters();
            const Block both{{Storage::folded, 1}, scratch};
            const Sums sums =
                chain(steps, team, cells, child(me - 1, scratch), both, is_scan || has_later);
            const Block before = before_cluster(steps, group, me, sums.with_me, scratch);
            const Block mine = is_scan ? sums.with_me : sums.before;
            const Block result{out, cells};
            if (before.cells.count > 0 && mine.cells.count > 0)
              steps.reduce(result, before, mine);
            else if (before.cells.count > 0 || mine.cells.count > 0)
              steps.copy(result, before.cells.count > 0 ? before : mine);
          }};
}

Parameter segment_parameter() {
  return {.name = "segment",
          .help = "Greatest number of elements in a message; 0 = all in one.",
          .fallback = "0",
          .is_piece = true};
}

}  // namespace

Algorithm chain_scan_algorithm() {
  return {.name = "chain",
          .help = "Sums pass from rank to rank.",
          .collectives = {Collective::scan, Collective::exscan},
          .parameters = {segment_parameter()},
          .order =
              [](const CollectiveSpec& task, const Parameters&) {
                return task.group().depth() == 0 ? Order::canonical : Order::in_order;
              },
          .refusal = {},
          .program = chain_program};
}

Algorithm clusters_scan_algorithm() {
  return {.name = "clusters_scan",
          .help = "A chain in each cluster; each cluster sends its sum to all later ones.",
          .collectives = {Collective::scan, Collective::exscan},
          .parameters = {segment_parameter()},
          .order =
              [](const CollectiveSpec& task, const Parameters&) {
                return task.group().depth() <= 1 ? Order::canonical : Order::in_order;
              },
          .refusal = [](const CollectiveSpec& task, const Parameters&) -> std::string {
            return task.group().is_in_order() ? "" : "a cluster is no range of ranks";
          },
          .program = clusters_program};
}

}  // namespace collectives
