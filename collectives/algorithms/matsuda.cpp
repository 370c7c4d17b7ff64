// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/matsuda.cpp — pieces of hosts, and who carries them across.
//
// Where the paper is silent: clusters of several sizes cut for themselves, and overlaps cross; a
// forwarded piece goes straight to its owners elsewhere; who sends is every (h/n)-th, for each
// other cluster anew, and a piece is forwarded once to whoever sends it to one or several; the
// owner of a piece sums it up on each side.
#include "collectives/algorithms/matsuda.hpp"

#include <memory>
#include <set>

#include "collectives/dealing.hpp"
#include "collectives/exchange.hpp"
#include "collectives/exchange_parameters.hpp"
#include "collectives/fold.hpp"

namespace collectives {
namespace {

constexpr Buffer forwarded{Storage::forwarded};

/// A cluster's hosts with their pieces, and who of them sends for whom to which other cluster.
struct Side {
  std::vector<Rank> members;
  std::vector<std::size_t> senders;  // by cluster that they send to
  Dealing pieces;

  Side(std::vector<Rank> hosts, std::vector<std::size_t> limits, Range whole)
      : members(std::move(hosts)), senders(std::move(limits)), pieces(whole, members, 0) {
    for (std::size_t& most : senders)
      most = most == 0 ? members.size() : std::min(most, members.size());
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  /// The last selected one up to it; selected are floor(k size / senders).
  std::size_t sender_for(std::size_t member, std::size_t cluster) const {
    const std::size_t chosen = ((member + 1) * senders[cluster] - 1) / members.size();
    return chosen * members.size() / senders[cluster];
  }
};

/// How many of that cluster may send to each, 0 for all: by ordered pair of clusters, 0 to 1, 0 to
/// 2, ..., 1 to 0, ..., the last for all that follow.
std::vector<std::size_t> limits_of(const Parameters& parameters, std::size_t from,
                                   std::size_t clusters) {
  const std::vector<Count> numbers = parameters.numbers("senders");
  std::vector<std::size_t> limits(clusters, 0);
  for (std::size_t to = 0; to < clusters; ++to) {
    if (to == from) continue;
    const std::size_t pair = from * (clusters - 1) + (to < from ? to : to - 1);
    limits[to] = numbers[std::min(pair, numbers.size() - 1)];
  }
  return limits;
}

/// A member that has to do with what crosses, and the clusters to which it does not send itself.
class Forwarding {
 public:
  Forwarding(const Side& side, std::size_t mine, std::size_t me)
      : side_(side), mine_(mine), me_(me) {}

  bool sends(std::size_t member, std::size_t cluster) const {
    return cluster != mine_ && side_.sender_for(member, cluster) == me_;
  }
  /// Pieces go to who sends them, if that is another one; `see` gets all that I send, mine first,
  /// with whose they are.
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
  /// Of my piece.
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

void broadcast(Steps& steps, const Task& task, const Parameters& parameters, Rank me) {
  const Topology& group = task.group();
  const Range whole = task.vector();
  const std::size_t clusters = group.clusters();
  const std::size_t home = group.cluster_of(task.root);
  const std::size_t mine = group.cluster_of(me);
  const std::size_t first = group.index_in_cluster(task.root);
  const Side here(rotated(group.cluster(home), first), limits_of(parameters, home, clusters),
                  whole);
  const std::size_t size = group.cluster(mine).size();
  const std::size_t index = (group.index_in_cluster(me) + size - (mine == home ? first : 0)) % size;
  const std::vector<Range> pieces = cut(whole, size);
  if (mine == home) {
    const Team team{here.members, index};
    scatter_binomial(steps, {team, pieces, out});
    const Forwarding across(here, home, index);
    const auto send = [&](std::size_t member, Block block) {
      const Range piece = here.pieces.piece(member);
      for (std::size_t next = 1; next < clusters; ++next) {
        const std::size_t to = (home + next) % clusters;
        if (!across.sends(member, to)) continue;
        const std::vector<Dealing> there{Dealing(whole, group.cluster(to), 0)};
        for_common_ranges(piece, there, [&](Range range) {
          steps.send(there[0].owner(range.offset), within(block, piece, range));
        });
      }
    };
    if (clusters > 1) across.forward(steps, {out, pieces[index]}, send);
    allgather(parameters.word("allgather"), steps, {team, pieces, out});
    return;
  }
  for_common_ranges(pieces[index], std::span(&here.pieces, 1), [&](Range range) {
    const std::size_t owner = here.pieces.owner_index(range.offset);
    steps.receive(here.members[here.sender_for(owner, mine)], Block{out, range});
  });
  allgather(parameters.word("allgather"), steps, {my_cluster(group, me), pieces, out});
}

// --- allreduce ---

using Sides = std::vector<std::unique_ptr<Side>>;

std::vector<Dealing> cuts_of(const Sides& sides) {
  std::vector<Dealing> cuts;
  for (const auto& side : sides) cuts.push_back(side->pieces);
  return cuts;
}

/// What comes from other clusters of my piece, folded with what mine has.
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

void allreduce(Steps& steps, const Task& task, const Parameters& parameters, Rank me) {
  const Topology& group = task.group();
  const Range whole = task.vector();
  const std::size_t clusters = group.clusters();
  const std::size_t mine = group.cluster_of(me);
  Sides sides;
  for (std::size_t number = 0; number < clusters; ++number)
    sides.push_back(std::make_unique<Side>(rotated(group.cluster(number), 0),
                                           limits_of(parameters, number, clusters), whole));
  const Team team = my_cluster(group, me);
  const std::vector<Range> pieces = cut(whole, team.size());
  const Stretches stretches(whole, 0);
  const Block sum =
      reduce_scatter(parameters.word("reduce_scatter"), steps,
                     {team, pieces, &stretches, in, clusters == 1 ? out : part, 0, &group});
  const Forwarding across(*sides[mine], mine, team.me);
  const auto send = [&](std::size_t member, Block block) {
    const Range piece = sides[mine]->pieces.piece(member);
    for_common_ranges(piece, cuts_of(sides), [&](Range range) {
      for (std::size_t next = 1; next < clusters; ++next) {
        const std::size_t to = (mine + next) % clusters;
        if (across.sends(member, to))
          steps.send(sides[to]->pieces.owner(range.offset), within(block, piece, range));
      }
    });
  };
  if (clusters > 1) across.forward(steps, sum, send);
  receive_and_fold(steps, sides, mine, pieces[team.me], sum);
  allgather(parameters.word("allgather"), steps, {team, pieces, out});
}

Parameter senders_parameter() {
  return {.name = "senders",
          .help =
              "How many hosts of a cluster send to another, by ordered pair: from the first "
              "cluster to the second, the third, ..., from the second to the first, ..., the "
              "last for all that follow; 0: all.",
          .fallback = "0",
          .is_list = true};
}

}  // namespace

Algorithm modified_van_de_geijn_algorithm() {
  return {.name = "modified_van_de_geijn",
          .help =
              "Scatter in the root's cluster, copy pieces across, allgather in each cluster "
              "(Matsuda et al. 2006).",
          .collectives = {Collective::broadcast},
          .parameters = {senders_parameter(), allgather_parameter()},
          .order = {},
          .refusal = wrong_for_clusters,
          .program = [](const Task& task, const Parameters& parameters, Rank me) {
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
          .parameters = {senders_parameter(), reduce_scatter_parameter(), allgather_parameter()},
          .order = order_of_sums,
          .refusal = wrong_for_clusters,
          .program = [](const Task& task, const Parameters& parameters, Rank me) {
            return Program(
                1, [=, &task](Count, Steps& steps) { allreduce(steps, task, parameters, me); });
          }};
}

}  // namespace collectives
