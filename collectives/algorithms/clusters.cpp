// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/clusters.cpp — collectives made of trees inside clusters and exchanges
// between the first hosts of clusters.
#include "collectives/algorithms/clusters.hpp"

#include <fmt/format.h>

#include "collectives/algorithms/alltoall.hpp"
#include "collectives/schedule/exchange.hpp"
#include "collectives/schedule/fold.hpp"
#include "collectives/schedule/tree.hpp"

namespace collectives {
namespace {

/// Position of this participant in its cluster's tree. The root of the tree is the first member,
/// the speaker of the cluster. Only the speaker exchanges messages with other clusters.
struct Place {
  Team team;
  Shape::Node node;
  bool speaks() const { return team.me == 0; }
  Rank parent() const { return team[node.parent]; }
};

Place place_of(const CollectiveSpec& task, const Parameters& parameters, Rank me) {
  const Team team = my_cluster(task.group(), me);
  return {team, Shape{.name = parameters.word("shape")}.node(team.size(), team.me)};
}

void send_down(Steps& steps, const Place& place, const Ref& what) {
  if (!place.speaks()) steps.receive(place.parent(), what);
  for (const std::size_t child : place.node.children) steps.send(place.team[child], what);
}

void allreduce(Steps& steps, const CollectiveSpec& task, const Place& place, Rank me, Range cells,
               Range scratch) {
  std::vector<std::size_t> children = place.node.children;
  std::sort(children.begin(), children.end());
  std::vector<Block> operands{{in, cells}};
  for (const std::size_t child : children) {
    const Rank rank = place.team[child];
    operands.push_back({{Storage::child, rank}, scratch});
    steps.receive(rank, operands.back());
  }
  const Block sum = fold(steps, operands, {part, scratch});
  if (place.speaks()) {
    const std::vector<Rank> speakers = first_of_clusters(task.group());
    exchange_sums(steps, {speakers, task.group().cluster_of(me)}, sum, cells, scratch);
  } else {
    steps.send(place.parent(), sum);
  }
  send_down(steps, place, Block{out, cells});
}

Ref blocks_of(const CollectiveSpec& task, std::size_t cluster) {
  Ref blocks;
  for (const Rank rank : task.group().cluster(cluster)) blocks.add({out, task.counts.block(rank)});
  return blocks;
}

/// Members send their blocks directly to their speaker, the first member of the cluster. Speakers
/// exchange the blocks of clusters. All blocks then travel down the tree of each cluster.
void allgather(Steps& steps, const CollectiveSpec& task, const Place& place, Rank me) {
  const Topology& group = task.group();
  const std::size_t mine = group.cluster_of(me);
  const std::size_t clusters = group.clusters();
  const Block own{in, in_range(task, me)};
  if (place.speaks()) {
    steps.copy({out, task.counts.block(me)}, own);
    for (std::size_t index = 1; index < place.team.size(); ++index)
      steps.receive(place.team[index], Block{out, task.counts.block(place.team[index])});
    for (std::size_t next = 1; next < clusters; ++next)
      steps.send(group.cluster((mine + next) % clusters).front(), blocks_of(task, mine));
  } else {
    steps.send(place.team[0], own);
  }
  send_down(steps, place, blocks_of(task, mine));
  for (std::size_t next = 1; next < clusters; ++next) {
    const std::size_t from = (mine + clusters - next) % clusters;
    const Ref blocks = blocks_of(task, from);
    if (place.speaks()) steps.receive(group.cluster(from).front(), blocks);
    send_down(steps, place, blocks);
  }
}

Program through_coordinators_program(const CollectiveSpec& task, const Parameters& parameters,
                                     Rank me) {
  const Place place = place_of(task, parameters, me);
  if (task.collective == Collective::allgather)
    return {1, [=, &task](Count, Steps& steps) { allgather(steps, task, place, me); }};
  const Stretches segments(task.vector(), parameters.number("segment"));
  return {segments.count(), [=, &task](Count portion, Steps& steps) {
            const Range cells = segments[portion];
            allreduce(steps, task, place, me, cells, segments.scratch(cells));
          }};
}

Order order(const CollectiveSpec& task, const Parameters& parameters) {
  const bool is_nested = task.group().depth() > 1;
  return parameters.word("shape") == "flat" && !is_nested ? Order::canonical : Order::in_order;
}

// --- alltoall ---

constexpr Buffer outgoing{Storage::subtree};
constexpr Buffer incoming{Storage::part};
// Channel of the messages inside a cluster. Messages between clusters have a different channel, so
// messages inside a cluster do not wait for messages between clusters.
constexpr Channel inside = 1;

/// Allocates consecutive blocks in the buffer of a speaker (the member that exchanges messages with
/// other clusters). Sender and receiver allocate in the same order.
class Hold {
 public:
  explicit Hold(Buffer buffer) : buffer_(buffer) {}
  Block next(Count count) {
    const Block block{buffer_, {used_, count}};
    used_ += count;
    return block;
  }

 private:
  Buffer buffer_;
  Count used_ = 0;
};

struct Exchange {
  const CollectiveSpec& task;
  const Topology& group;
  Rank me;
  std::size_t mine;
  std::vector<Range> results;

  std::size_t clusters() const { return group.clusters(); }
  std::size_t to(std::size_t distance) const { return (mine + distance) % clusters(); }
  std::size_t from(std::size_t distance) const {
    return (mine + clusters() - distance) % clusters();
  }

  /// Returns the blocks that this member sends to the members of another cluster.
  Ref given_to(std::size_t cluster) const {
    Ref blocks;
    for (const Rank target : group.cluster(cluster)) blocks.add({in, given(task, me, target)});
    return blocks;
  }
  Count count_given(Rank member, std::size_t cluster) const {
    Count count = 0;
    for (const Rank target : group.cluster(cluster)) count += given(task, member, target).count;
    return count;
  }
};

/// Appends the steps with which a speaker (first member of its cluster) sends for all members. The
/// speaker collects the blocks of all members by target cluster, and sends one message to each of
/// the other clusters.
void send_for_all(Steps& steps, const Exchange& all) {
  Hold hold(outgoing);
  std::vector<Ref> messages(all.clusters());
  std::vector<Ref> gathered(all.group.cluster(all.mine).size());
  for (std::size_t distance = 1; distance < all.clusters(); ++distance) {
    const std::size_t cluster = all.to(distance);
    std::size_t index = 0;
    for (const Rank member : all.group.cluster(all.mine)) {
      if (member == all.me) {
        messages[cluster].append(all.given_to(cluster));
      } else {
        const Block block = hold.next(all.count_given(member, cluster));
        messages[cluster].add(block);
        gathered[index].add(block);
      }
      ++index;
    }
  }
  for (std::size_t index = 1; index < gathered.size(); ++index)
    steps.receive(all.group.cluster(all.mine)[index], gathered[index]);
  for (std::size_t distance = 1; distance < all.clusters(); ++distance)
    steps.send(all.group.cluster(all.to(distance)).front(), messages[all.to(distance)]);
}

/// Appends the steps with which a speaker (first member of its cluster) receives for all members.
/// The speaker receives one message from each of the other clusters, and sends each member the
/// blocks for this member.
void receive_for_all(Steps& steps, const Exchange& all) {
  Hold hold(incoming);
  const std::span<const Rank> members = all.group.cluster(all.mine);
  for (std::size_t distance = 1; distance < all.clusters(); ++distance) {
    const std::span<const Rank> sources = all.group.cluster(all.from(distance));
    std::vector<std::vector<Block>> blocks(members.size());
    for (std::size_t index = 0; index < members.size(); ++index)
      for (const Rank source : sources)
        blocks[index].push_back(members[index] == all.me
                                    ? Block{out, all.results[source]}
                                    : hold.next(given(all.task, source, members[index]).count));
    Ref message;
    for (std::size_t source = 0; source < sources.size(); ++source)
      for (const std::vector<Block>& of_member : blocks) message.add(of_member[source]);
    steps.receive(sources.front(), message);
    for (std::size_t index = 1; index < members.size(); ++index) {
      Ref apart;
      for (const Block& block : blocks[index]) apart.add(block);
      steps.send(members[index], apart);
    }
  }
}

Program alltoall(const CollectiveSpec& task, const Parameters&, Rank me) {
  return {1, [&task, me](Count, Steps& steps) {
            const Topology& group = task.group();
            const Exchange all{task, group, me, group.cluster_of(me), taken(task, me)};
            const Rank speaker = group.cluster(all.mine).front();
            if (me == speaker) {
              send_for_all(steps, all);
            } else {
              Ref message;
              for (std::size_t distance = 1; distance < all.clusters(); ++distance)
                message.append(all.given_to(all.to(distance)));
              steps.send(speaker, message);
            }
            append_pairwise(steps, task, my_cluster(group, me), all.results, inside);
            if (me == speaker) return receive_for_all(steps, all);
            for (std::size_t distance = 1; distance < all.clusters(); ++distance) {
              Ref blocks;
              for (const Rank source : group.cluster(all.from(distance)))
                blocks.add({out, all.results[source]});
              steps.receive(speaker, blocks);
            }
          }};
}

/// Returns why the algorithm refuses the collective, or "" if it accepts the collective. A speaker
/// handles each block of each of its members, which takes too long in large clusters.
std::string too_many_cluster_blocks(const CollectiveSpec& task, const Parameters&) {
  constexpr std::size_t most = 1 << 16;
  std::size_t largest = 0;
  for (std::size_t number = 0; number < task.group().clusters(); ++number)
    largest = std::max(largest, task.group().cluster(number).size());
  const std::size_t blocks = largest * task.size();
  if (blocks <= most) return "";
  return fmt::format("the first participant of a cluster of {} would split {} blocks, more than {}",
                     largest, blocks, most);
}

}  // namespace

Algorithm clusters_algorithm() {
  return {
      .name = "clusters",
      .help =
          "Gather in each cluster, all-to-all between their first hosts, scatter in each cluster.",
      .collectives = {Collective::allreduce, Collective::barrier, Collective::allgather},
      .parameters = {{.name = "shape",
                      .help = "Shape of the trees in clusters.",
                      .fallback = "flat",
                      .words = {"flat", "binomial", "chain"}},
                     {.name = "segment",
                      .help = "Greatest number of elements in a message of allreduce; 0 = all.",
                      .fallback = "0",
                      .only_for = {Collective::allreduce},
                      .is_piece = true}},
      .order = order,
      .refusal = {},
      .program = through_coordinators_program};
}

Algorithm clusters_alltoall_algorithm() {
  return {.name = "clusters_alltoall",
          .help = "One message for each ordered pair of clusters, exchange inside them meanwhile.",
          .collectives = {Collective::alltoall},
          .parameters = {},
          .order = {},
          .refusal = too_many_cluster_blocks,
          .program = alltoall};
}

}  // namespace collectives
