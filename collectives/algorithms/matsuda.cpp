// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/matsuda.cpp — division of the data of hosts into pieces, and the
// hosts that send the pieces to other clusters.
//
// This implementation makes choices that the paper leaves open:
// - Clusters of different sizes are cut independently. Owners exchange the overlaps of their
//   pieces.
// - A forwarded piece goes directly to its owners in other clusters.
// - If n of the h members of a cluster may send to another cluster, every (h/n)-th member is a
//   sender. Senders are chosen separately for each other cluster.
// - A piece is forwarded to each sender once, even if the sender sends it to several clusters.
// - In each cluster, the owner of a piece folds the sums that all clusters have for that piece.
#include "collectives/algorithms/matsuda.hpp"

#include <memory>
#include <set>

#include "collectives/schedule/dealing.hpp"
#include "collectives/schedule/exchange.hpp"
#include "collectives/schedule/exchange_parameters.hpp"
#include "collectives/schedule/fold.hpp"

namespace collectives {
namespace {

constexpr Buffer forwarded{Storage::forwarded};

/// The members of a cluster, in groups of nearly equal size. The first member of each group owns a
/// piece that is sent to other clusters. A group usually has one member. Groups are larger if the
/// scatter stops early to limit the senders (§2.4); the scatter then continues within each group.
class Cluster {
 public:
  Cluster(std::vector<Rank> members, std::size_t groups)
      : members_(std::move(members)), groups_(groups) {
    for (std::size_t group = 0; group < groups_; ++group) owners_.push_back(members_[begin(group)]);
  }

  const std::vector<Rank>& members() const { return members_; }
  const std::vector<Rank>& owners() const { return owners_; }
  std::size_t begin(std::size_t group) const { return group * members_.size() / groups_; }
  std::size_t group_of(std::size_t member) const {
    return ((member + 1) * groups_ - 1) / members_.size();
  }
  bool owns(std::size_t member) const { return begin(group_of(member)) == member; }

  /// Cuts `whole` into one piece per group. Then cuts the piece of each group into one piece per
  /// member of the group. Returns the pieces of the members.
  std::vector<Range> pieces(Range whole) const {
    std::vector<Range> all;
    for (std::size_t group = 0; group < groups_; ++group)
      for (const Range& piece :
           cut(piece_of(whole, groups_, group), begin(group + 1) - begin(group)))
        all.push_back(piece);
    return all;
  }
  /// Returns the input of scatter_binomial() or gather_binomial() for the group that contains a
  /// member.
  Gathering inside(std::size_t member, std::span<const Range> pieces, Buffer buffer) const {
    const std::size_t first = begin(group_of(member));
    const std::size_t size = begin(group_of(member) + 1) - first;
    return {{std::span(members_).subspan(first, size), member - first},
            pieces.subspan(first, size),
            buffer};
  }

 private:
  std::vector<Rank> members_;
  std::size_t groups_;
  std::vector<Rank> owners_;
};

bool stops_early(const Parameters& parameters) { return parameters.word("limiting") == "halving"; }

/// Returns the cluster with this number. Its members are rotated, so that the member with index
/// `first` comes first.
Cluster cluster_of(const Topology& topology, const Parameters& parameters, std::size_t number,
                   std::size_t first = 0) {
  const std::span<const Rank> members = topology.cluster(number);
  const Count senders = parameters.numbers("senders").front();
  const bool is_parted = stops_early(parameters) && senders > 0 && topology.clusters() > 1;
  return {rotated(members, first),
          is_parted ? std::min<std::size_t>(senders, members.size()) : members.size()};
}

/// The owners of a cluster with their pieces, and the members that send to each of the other
/// clusters.
struct Side {
  std::vector<Rank> members;
  std::vector<std::size_t> senders;  // number of members that send to each cluster
  Dealing pieces;

  Side(std::vector<Rank> hosts, std::vector<std::size_t> limits, Range whole)
      : members(std::move(hosts)), senders(std::move(limits)), pieces(whole, members, 0) {
    for (std::size_t& most : senders)
      most = most == 0 ? members.size() : std::min(most, members.size());
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  /// Returns the index of the member that sends the piece of `member` to `cluster`. It is the last
  /// sender with an index of at most `member`. For all k, member floor(k * size / senders) is a
  /// sender.
  std::size_t sender_for(std::size_t member, std::size_t cluster) const {
    const std::size_t chosen = ((member + 1) * senders[cluster] - 1) / members.size();
    return chosen * members.size() / senders[cluster];
  }
};

/// Returns how many members of cluster `from` may send to each of the other clusters (0 = all). The
/// parameter has one number for each ordered pair of clusters: 0 to 1, 0 to 2, ..., 1 to 0, and so
/// on. The last number applies to all further pairs.
std::vector<std::size_t> limits_of(const Parameters& parameters, std::size_t from,
                                   std::size_t clusters) {
  const std::vector<Count> numbers = parameters.numbers("senders");
  std::vector<std::size_t> limits(clusters, 0);
  // If the scatter stops early, it has already limited the senders, so there is no further limit.
  if (stops_early(parameters)) return limits;
  for (std::size_t to = 0; to < clusters; ++to) {
    if (to == from) continue;
    const std::size_t pair = from * (clusters - 1) + (to < from ? to : to - 1);
    limits[to] = numbers[std::min(pair, numbers.size() - 1)];
  }
  return limits;
}

/// The messages of one owner. The owner sends pieces to other clusters. It forwards its own piece
/// to the members that send this piece to other clusters.
class Forwarding {
 public:
  Forwarding(const Side& side, std::size_t mine, std::size_t me)
      : side_(side), mine_(mine), me_(me) {}

  bool sends(std::size_t member, std::size_t cluster) const {
    return cluster != mine_ && side_.sender_for(member, cluster) == me_;
  }
  /// Forwards this member's piece to the other members that send this piece to other clusters.
  /// Calls `see` for each piece that this member sends to other clusters, with the index of the
  /// piece's owner. This member's own piece comes first.
  template <class See>
  void forward(Steps& steps, Block own, const See& see) const {
    for (const std::size_t sender : other_senders()) steps.send(side_.members[sender], own);
    std::size_t end = me_ + 1;
    for (; end < side_.members.size() && sends_for(end); ++end)
      steps.receive(side_.members[end], Block{forwarded, side_.pieces.piece(end)});
    if (sends_for(me_)) see(me_, own);
    for (std::size_t member = me_ + 1; member < end; ++member)
      see(member, Block{forwarded, side_.pieces.piece(member)});
  }

 private:
  bool sends_for(std::size_t member) const {
    for (std::size_t cluster = 0; cluster < side_.senders.size(); ++cluster)
      if (sends(member, cluster)) return true;
    return false;
  }
  /// Returns the other members that send this member's piece to other clusters.
  std::set<std::size_t> other_senders() const {
    std::set<std::size_t> others;
    for (std::size_t cluster = 0; cluster < side_.senders.size(); ++cluster)
      if (cluster != mine_) others.insert(side_.sender_for(me_, cluster));
    others.erase(me_);
    return others;
  }

  const Side& side_;
  std::size_t mine_, me_;
};

Block within(Block block, Range piece, Range range) {
  return {block.buffer, {block.cells.offset + (range.offset - piece.offset), range.count}};
}

// --- broadcast ---

void broadcast(Steps& steps, const CollectiveSpec& task, const Parameters& parameters, Rank me) {
  const Topology& group = task.group();
  const Range whole = task.vector();
  const std::size_t clusters = group.clusters();
  const std::size_t home = group.cluster_of(task.root);
  const std::size_t mine = group.cluster_of(me);
  const std::size_t first = group.index_in_cluster(task.root);
  std::vector<Cluster> all;
  for (std::size_t number = 0; number < clusters; ++number)
    all.push_back(cluster_of(group, parameters, number, number == home ? first : 0));
  const Side here(all[home].owners(), limits_of(parameters, home, clusters), whole);
  const std::size_t size = all[mine].members().size();
  const std::size_t index = (group.index_in_cluster(me) + size - (mine == home ? first : 0)) % size;
  const std::size_t owner = all[mine].group_of(index);
  const Range owned = piece_of(whole, all[mine].owners().size(), owner);
  if (mine == home && all[mine].owns(index)) {
    scatter_binomial(steps, {{here.members, owner}, here.pieces.pieces(), out});
    const Forwarding across(here, home, owner);
    const auto send = [&](std::size_t from, Block block) {
      const Range piece = here.pieces.piece(from);
      for (std::size_t next = 1; next < clusters; ++next) {
        const std::size_t to = (home + next) % clusters;
        if (!across.sends(from, to)) continue;
        const std::vector<Dealing> there{Dealing(whole, all[to].owners(), 0)};
        for_common_ranges(piece, there, [&](Range range) {
          steps.send(there[0].owner(range.offset), within(block, piece, range));
        });
      }
    };
    if (clusters > 1) across.forward(steps, {out, owned}, send);
  } else if (all[mine].owns(index)) {
    for_common_ranges(owned, std::span(&here.pieces, 1), [&](Range range) {
      const std::size_t from = here.pieces.owner_index(range.offset);
      steps.receive(here.members[here.sender_for(from, mine)], Block{out, range});
    });
  }
  const std::vector<Range> pieces = all[mine].pieces(whole);
  scatter_binomial(steps, all[mine].inside(index, pieces, out));
  allgather(parameters.word("allgather"), steps, {{all[mine].members(), index}, pieces, out});
}

// --- allreduce ---

using Sides = std::vector<std::unique_ptr<Side>>;

std::vector<Dealing> cuts_of(const Sides& sides) {
  std::vector<Dealing> cuts;
  for (const auto& side : sides) cuts.push_back(side->pieces);
  return cuts;
}

/// Receives the sums of this member's piece from other clusters and folds them with its own sum.
void receive_and_fold(Steps& steps, const Sides& sides, std::size_t mine, Range own, Block sum) {
  const std::size_t clusters = sides.size();
  for_common_ranges(own, cuts_of(sides), [&](Range range) {
    std::vector<Block> operands(clusters, within(sum, own, range));
    for (std::size_t next = 1; next < clusters; ++next) {
      const std::size_t from = (mine + clusters - next) % clusters;
      const Side& side = *sides[from];
      operands[from] = {{Storage::across, static_cast<std::uint32_t>(from)}, range};
      const std::size_t sender = side.sender_for(side.pieces.owner_index(range.offset), mine);
      steps.receive(side.members[sender], operands[from]);
    }
    steps.copy({out, range}, fold(steps, operands, {out, range}));
  });
}

/// Appends the steps with which an owner exchanges sums with other clusters and folds them. `sum`
/// is the sum of the owner's piece over its own cluster.
void exchange_and_fold(Steps& steps, const Sides& sides, std::size_t mine, std::size_t owner,
                       Block sum) {
  const std::size_t clusters = sides.size();
  const Forwarding across(*sides[mine], mine, owner);
  const auto send = [&](std::size_t from, Block block) {
    const Range piece = sides[mine]->pieces.piece(from);
    for_common_ranges(piece, cuts_of(sides), [&](Range range) {
      for (std::size_t next = 1; next < clusters; ++next) {
        const std::size_t to = (mine + next) % clusters;
        if (across.sends(from, to))
          steps.send(sides[to]->pieces.owner(range.offset), within(block, piece, range));
      }
    });
  };
  if (clusters > 1) across.forward(steps, sum, send);
  receive_and_fold(steps, sides, mine, sides[mine]->pieces.piece(owner), sum);
}

void allreduce(Steps& steps, const CollectiveSpec& task, const Parameters& parameters, Rank me) {
  const Topology& group = task.group();
  const Range whole = task.vector();
  const std::size_t clusters = group.clusters();
  const std::size_t mine = group.cluster_of(me);
  std::vector<Cluster> all;
  Sides sides;
  for (std::size_t number = 0; number < clusters; ++number) {
    all.push_back(cluster_of(group, parameters, number));
    sides.push_back(std::make_unique<Side>(all.back().owners(),
                                           limits_of(parameters, number, clusters), whole));
  }
  const Team team = my_cluster(group, me);
  const std::vector<Range> pieces = all[mine].pieces(whole);
  const Stretches stretches(whole, 0);
  Block sum = reduce_scatter(parameters.word("reduce_scatter"), steps,
                             {team, pieces, &stretches, in, clusters == 1 ? out : part, 0, &group});
  gather_binomial(steps, all[mine].inside(team.me, pieces, sum.buffer));
  if (all[mine].owns(team.me)) {
    const std::size_t owner = all[mine].group_of(team.me);
    sum.cells.count = sides[mine]->pieces.piece(owner).count;
    exchange_and_fold(steps, sides, mine, owner, sum);
  }
  scatter_binomial(steps, all[mine].inside(team.me, pieces, out));
  allgather(parameters.word("allgather"), steps, {team, pieces, out});
}

Parameter senders_parameter() {
  return {.name = "senders",
          .help =
              "Number of hosts of a cluster that send to another one; 0 = all. The list has one "
              "number for each ordered pair of clusters: first to second, first to third, ..., "
              "second to first, ... The last number is also used for all further pairs.",
          .fallback = "0",
          .is_list = true};
}

Parameter limiting_parameter() {
  return {.name = "limiting",
          .help =
              "How other hosts' pieces reach the senders: they forward them, or the scatter stops "
              "before all have a piece and continues when all pieces have crossed.",
          .fallback = "forwarding",
          .words = {"forwarding", "halving"}};
}

std::string wrong_for_senders(const CollectiveSpec& task, const Parameters& parameters) {
  if (stops_early(parameters) && parameters.numbers("senders").size() > 1)
    return "halving needs one number of senders for all pairs of clusters";
  return wrong_for_clusters(task, parameters);
}

}  // namespace

Algorithm modified_van_de_geijn_algorithm() {
  return {.name = "modified_van_de_geijn",
          .help =
              "Scatter in the root's cluster, copy pieces across, allgather in each cluster "
              "(Matsuda et al. 2006).",
          .collectives = {Collective::broadcast},
          .parameters = {senders_parameter(), limiting_parameter(), allgather_parameter()},
          .order = {},
          .refusal = wrong_for_senders,
          .program = [](const CollectiveSpec& task, const Parameters& parameters, Rank me) {
            return Program(
                1, [=, &task](Count, Steps& steps) { broadcast(steps, task, parameters, me); });
          }};
}

Algorithm modified_rabenseifner_algorithm() {
  return {.name = "modified_rabenseifner",
          .help =
              "Reduce-scatter in each cluster, exchange of pieces across, allgather in each "
              "(Matsuda et al. 2006).",
          .collectives = {Collective::allreduce},
          .parameters = {senders_parameter(), limiting_parameter(), reduce_scatter_parameter(),
                         allgather_parameter()},
          .order = order_of_sums,
          .refusal = wrong_for_senders,
          .program = [](const CollectiveSpec& task, const Parameters& parameters, Rank me) {
            return Program(
                1, [=, &task](Count, Steps& steps) { allreduce(steps, task, parameters, me); });
          }};
}

}  // namespace collectives
