// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/stretched.cpp — scatter, exchange and allgather, repeated per stretch.
#include "collectives/algorithms/stretched.hpp"

#include "collectives/schedule/dealing.hpp"
#include "collectives/schedule/exchange.hpp"
#include "collectives/schedule/tree.hpp"

namespace collectives {
namespace {

struct Choice {
  std::string inner;     // name of the algorithm for exchanges inside clusters
  std::string exchange;  // how an allreduce exchanges sums between clusters
  Shape over_clusters;   // shape of the tree of clusters in a broadcast
  bool deals;
  Stretches stretches;
};

Count turn(const Choice& choice, Count stretch, std::size_t cluster) {
  return choice.deals ? stretch * cluster : 0;
}

// --- allreduce ---

std::vector<Dealing> all_dealings(const Topology& group, const Choice& choice, Count stretch) {
  std::vector<Dealing> dealings;
  for (std::size_t cluster = 0; cluster < group.clusters(); ++cluster)
    dealings.emplace_back(choice.stretches[stretch], group.cluster(cluster),
                          turn(choice, stretch, cluster));
  return dealings;
}

/// Sums `range` among its owners (one per cluster) with a reduce-scatter and an allgather: each
/// owner sums one piece of the range. With three or more clusters, fewer bytes cross between
/// clusters than if each owner sent its sum to all other owners.
void exchange_in_two(Steps& steps, const Choice& choice, const Team& team, Range range, Block sum,
                     Channel channel) {
  const std::vector<Range> pieces = cut(range, team.size());
  const Block piece =
      reduce_scatter_direct(steps, {team, pieces, &choice.stretches, sum.buffer, out, channel});
  steps.copy({out, pieces[team.me]}, piece);
  allgather_direct(steps, {team, pieces, out, channel});
}

void allreduce_stretch(Steps& steps, const CollectiveSpec& task, const Choice& choice, Rank me,
                       Count stretch) {
  const Topology& group = task.group();
  const auto channel = static_cast<Channel>(stretch);
  const std::size_t mine = group.cluster_of(me);
  const std::vector<Dealing> dealings = all_dealings(group, choice, stretch);
  const std::vector<Range> pieces = dealings[mine].pieces();
  const Team team = my_cluster(group, me);
  const Buffer result = group.clusters() == 1 ? out : part;
  const Block sum = reduce_scatter(choice.inner, steps,
                                   {team, pieces, &choice.stretches, in, result, channel, &group});
  const Range own = pieces[team.me];
  for_common_ranges(own, dealings, [&](Range range) {
    std::vector<Rank> owners;
    for (const Dealing& dealing : dealings) owners.push_back(dealing.owner(range.offset));
    const Block mine_of_it{sum.buffer,
                           {sum.cells.offset + (range.offset - own.offset), range.count}};
    const Team between{owners, mine};
    if (choice.exchange == "two")
      exchange_in_two(steps, choice, between, range, mine_of_it, channel);
    else
      exchange_sums(steps, between, mine_of_it, range, choice.stretches.scratch(range), channel);
  });
  allgather(choice.inner, steps, {team, pieces, out, channel});
}

// --- broadcast ---

/// Returns the owners of pieces in a cluster: all members except the root. If the root is the only
/// member, it is the owner.
std::vector<Rank> owners_in(const CollectiveSpec& task, std::size_t cluster) {
  const std::span<const Rank> members = task.group().cluster(cluster);
  std::vector<Rank> owners(members.begin(), members.end());
  if (owners.size() > 1) std::erase(owners, task.root);
  return owners;
}

/// Parent and children of a cluster in the tree of clusters. The root of the tree is the cluster
/// of the collective's root.
struct Relatives {
  std::size_t parent;
  std::vector<std::size_t> children;
};

Relatives relatives_of(const CollectiveSpec& task, const Shape& shape, std::size_t cluster) {
  const std::size_t clusters = task.group().clusters();
  const std::size_t first = task.group().cluster_of(task.root);
  const Shape::Node node = shape.node(clusters, (cluster + clusters - first) % clusters);
  Relatives relatives{(first + node.parent) % clusters, {}};
  for (const std::size_t child : node.children)
    relatives.children.push_back((first + child) % clusters);
  return relatives;
}

void broadcast_stretch(Steps& steps, const CollectiveSpec& task, const Choice& choice, Rank me,
                       Count stretch) {
  const Topology& group = task.group();
  const auto channel = static_cast<Channel>(stretch);
  const Range whole = choice.stretches[stretch];
  const std::size_t mine = group.cluster_of(me);
  const std::size_t first = group.cluster_of(task.root);
  const std::vector<Rank> owners = owners_in(task, mine);
  const Dealing dealing(whole, owners, turn(choice, stretch, mine));
  if (me == task.root)
    for (std::size_t owner = 0; owner < owners.size(); ++owner)
      if (owners[owner] != me) steps.send(owners[owner], Block{out, dealing.piece(owner)}, channel);
  const auto place = std::find(owners.begin(), owners.end(), me);
  if (place == owners.end()) return;
  const auto index = static_cast<std::size_t>(place - owners.begin());
  const Range own = dealing.piece(index);
  const auto with = [&](std::size_t cluster, const auto& see) {
    const std::vector<Rank> theirs = owners_in(task, cluster);
    const std::vector<Dealing> there{Dealing(whole, theirs, turn(choice, stretch, cluster))};
    for_common_ranges(own, there, [&](Range range) {
      see(there[0].owner(range.offset), Block{out, range});
    });
  };
  const Relatives relatives = relatives_of(task, choice.over_clusters, mine);
  if (mine != first)
    with(relatives.parent, [&](Rank from, Block block) { steps.receive(from, block, channel); });
  else if (me != task.root)
    steps.receive(task.root, Block{out, own}, channel);
  for (const std::size_t child : relatives.children)
    with(child, [&](Rank to, Block block) { steps.send(to, block, channel); });
  allgather(choice.inner, steps, {{owners, index}, dealing.pieces(), out, channel});
}

Program stretched_program(const CollectiveSpec& task, const Parameters& parameters, Rank me) {
  const Choice choice{parameters.word("inner"), parameters.word("exchange"),
                      Shape{.name = parameters.word("over_clusters")},
                      parameters.word("dealing") == "on",
                      Stretches(task.vector(), parameters.number("stretch"))};
  return {choice.stretches.count(), [&task, choice, me](Count stretch, Steps& steps) {
            const auto once =
                task.collective == Collective::broadcast ? broadcast_stretch : allreduce_stretch;
            once(steps, task, choice, me, stretch);
          }};
}

Order order_of_stretched(const CollectiveSpec&, const Parameters& parameters) {
  return parameters.word("inner") == "direct" ? Order::canonical : Order::by_block;
}

}  // namespace

Algorithm stretched_algorithm() {
  return {.name = "stretched",
          .help =
              "Scatter or reduce-scatter in a cluster, exchange between clusters, allgather; "
              "again for each stretch.",
          .collectives = {Collective::broadcast, Collective::allreduce},
          .parameters = {{.name = "stretch",
                          .help = "Number of elements in a stretch; 0 = all.",
                          .fallback = "0",
                          .is_piece = true},
                         {.name = "inner",
                          .help = "How pieces are exchanged inside clusters.",
                          .fallback = "direct",
                          .words = {"direct", "ring"}},
                         {.name = "exchange",
                          .help = "Allreduce between clusters: whole sums with all, or two steps.",
                          .fallback = "all",
                          .words = {"all", "two"},
                          .only_for = {Collective::allreduce}},
                         {.name = "over_clusters",
                          .help = "Broadcast: the tree over clusters.",
                          .fallback = "flat",
                          .words = {"flat", "chain", "binomial"},
                          .only_for = {Collective::broadcast}},
                         {.name = "dealing",
                          .help = "Whether other hosts send between clusters in the next stretch.",
                          .fallback = "on",
                          .words = {"on", "off"}}},
          .order = order_of_stretched,
          .refusal = {},
          .program = stretched_program};
}

}  // namespace collectives
