// SPDX-License-Identifier: Apache-2.0
// collectives/algorithms/matsuda.cpp — pieces of hosts, and who carries them across.
//
// Where the paper is silent: clusters of several sizes cut for themselves, and overlaps cross; a
// forwarded piece goes straight to its owners elsewhere; who sends is every (h/n)-th; the owner of
// a piece sums it up on each side.
#include "collectives/algorithms/matsuda.hpp"

#include <memory>

#include "collectives/dealing.hpp"
#include "collectives/exchange.hpp"
#include "collectives/exchange_parameters.hpp"
#include "collectives/fold.hpp"

namespace collectives {
namespace {

constexpr Buffer forwarded{Storage::forwarded};

/// A cluster's hosts with their pieces, and who of them sends for whom.
struct Side {
  std::vector<Rank> members;
  std::size_t senders;
  Dealing pieces;

  Side(std::vector<Rank> hosts, Count limit, Range whole)
      : members(std::move(hosts)),
        senders(limit == 0 ? members.size() : std::min<std::size_t>(limit, members.size())),
        pieces(whole, members, 0) {}
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  /// The last selected one up to it; selected are floor(k size / senders).
  std::size_t sender_for(std::size_t member) const {
    const std::size_t chosen = ((member + 1) * senders - 1) / members.size();
    return chosen * members.size() / senders;
  }
};

/// Pieces go to who sends them, if that is another one; `see` gets all that I send, mine first.
template <class See>
void forward(Steps& steps, const Side& side, std::size_t me, Block own, const See& see) {
  const std::size_t sender = side.sender_for(me);
  if (sender != me) return steps.send(side.members[sender], own);
  const auto last = [&](std::size_t member) {
    return member == side.members.size() || side.sender_for(member) != me;
  };
  for (std::size_t member = me + 1; !last(member); ++member)
    steps.receive(side.members[member], Block{forwarded, side.pieces.piece(member)});
  see(side.pieces.piece(me), own);
  for (std::size_t member = me + 1; !last(member); ++member) {
    const Range piece = side.pieces.piece(member);
    see(piece, Block{forwarded, piece});
  }
}

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
  const Side here(rotated(group.cluster(home), first), parameters.number("senders"), whole);
  const std::size_t size = group.cluster(mine).size();
  const std::size_t index = (group.index_in_cluster(me) + size - (mine == home ? first : 0)) % size;
  const std::vector<Range> pieces = cut(whole, size);
  if (mine == home) {
    const Team team{here.members, index};
    scatter_binomial(steps, {team, pieces, out});
    const auto send = [&](Range piece, Block block) {
      for (std::size_t next = 1; next < clusters; ++next) {
        const std::vector<Dealing> there{
            Dealing(whole, group.cluster((home + next) % clusters), 0)};
        for_common_ranges(piece, there, [&](Range range) {
          steps.send(there[0].owner(range.offset), within(block, piece, range));
        });
      }
    };
    if (clusters > 1) forward(steps, here, index, {out, pieces[index]}, send);
    allgather(parameters.word("allgather"), steps, {team, pieces, out});
    return;
  }
  for_common_ranges(pieces[index], std::span(&here.pieces, 1), [&](Range range) {
    const std::size_t owner = here.pieces.owner_index(range.offset);
    steps.receive(here.members[here.sender_for(owner)], Block{out, range});
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
      const std::size_t sender = side.sender_for(side.pieces.owner_index(range.offset));
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
                                           parameters.number("senders"), whole));
  const Team team = my_cluster(group, me);
  const std::vector<Range> pieces = cut(whole, team.size());
  const Stretches stretches(whole, 0);
  const Block sum =
      reduce_scatter(parameters.word("reduce_scatter"), steps,
                     {team, pieces, &stretches, in, clusters == 1 ? out : part, 0, &group});
  const auto send = [&](Range piece, Block block) {
    for_common_ranges(piece, cuts_of(sides), [&](Range range) {
      for (std::size_t next = 1; next < clusters; ++next)
        steps.send(sides[(mine + next) % clusters]->pieces.owner(range.offset),
                   within(block, piece, range));
    });
  };
  if (clusters > 1) forward(steps, *sides[mine], team.me, sum, send);
  receive_and_fold(steps, sides, mine, pieces[team.me], sum);
  allgather(parameters.word("allgather"), steps, {team, pieces, out});
}

Parameter senders_parameter() {
  return {.name = "senders",
          .help = "How many hosts of a cluster send to others; 0: all.",
          .fallback = "0"};
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
