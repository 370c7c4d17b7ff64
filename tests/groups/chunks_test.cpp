// SPDX-License-Identifier: Apache-2.0
// tests/groups/chunks_test.cpp — division of collectives into rounds of small chunks.
#include "groups/calls/chunks.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <vector>

namespace {

using collectives::Collective;
using collectives::CollectiveSpec;
using collectives::Count;
using collectives::Range;
using collectives::Rank;
using groups::Chunks;

/// Identifies an element of an input: the member whose input contains it, and its position in that
/// input.
struct Element {
  Rank member = 0;
  Count position = 0;
  bool operator==(const Element&) const = default;
};
using Elements = std::vector<Element>;

CollectiveSpec random_spec(std::mt19937_64& random, Collective collective, Rank members) {
  CollectiveSpec task = collectives::make_spec(
      collective,
      std::make_shared<const collectives::Topology>(collectives::Topology::clustered({members})), 1,
      static_cast<Rank>(random() % members));
  std::vector<Count> counts(task.counts.blocks());
  for (Count& count : counts) count = random() % 3 == 0 ? 0 : random() % 60;
  if (collective != Collective::barrier) task.counts = collectives::Counts::listed(counts);
  return task;
}

/// Returns the range of the input of `source` that `target` gets, by the definition of the
/// collective.
Range block(const CollectiveSpec& task, Rank source, Rank target) {
  switch (task.collective) {
    case Collective::alltoall: return collectives::given(task, source, target);
    case Collective::scatter: return source == task.root ? task.counts.block(target) : Range{};
    case Collective::reduce_scatter: return task.counts.block(target);
    default: return {0, collectives::in_range(task, source).count};
  }
}

/// Returns the number of elements of all members that arrive at a wrong position, or do not arrive
/// exactly once.
std::uint64_t wrong_elements(const CollectiveSpec& task, Count chunk_max) {
  const Rank members = task.size();
  std::vector<Chunks> all;
  for (Rank me = 0; me < members; ++me) all.emplace_back(task, me, chunk_max);
  std::vector<std::vector<Elements>> taken(members, std::vector<Elements>(members));
  std::uint64_t wrong = 0;
  for (Rank target = 0; target < members; ++target)
    for (Rank source = 0; source < members; ++source)
      taken[target][source].resize(block(task, source, target).count, {members, 0});
  for (Count round = 0; round < all[0].rounds(); ++round) {
    std::vector<Elements> chunks(members);
    for (Rank member = 0; member < members; ++member) {
      wrong += all[member].rounds() != all[0].rounds();
      chunks[member].resize(all[member].chunk(member), {members, 0});
      wrong += chunks[member].size() > chunk_max;
      all[member].each_given(round, [&](const Chunks::Piece& piece) {
        for (Count i = 0; i < piece.from.count; ++i)
          chunks[member].at(piece.to + i) = {member, piece.from.offset + i};
      });
    }
    for (Rank target = 0; target < members; ++target)
      for (Rank source = 0; source < members; ++source) {
        const Chunks::Piece piece = all[target].taken(source, round);
        for (Count i = 0; i < piece.from.count; ++i) {
          Element& element = taken[target][source].at(piece.to + i);
          wrong += element.member != members;
          element = chunks[source].at(piece.from.offset + i);
        }
      }
  }
  for (Rank target = 0; target < members; ++target)
    for (Rank source = 0; source < members; ++source) {
      const Range whole = block(task, source, target);
      for (Count i = 0; i < whole.count; ++i)
        wrong += taken[target][source][i] != Element{source, whole.offset + i};
    }
  return wrong;
}

}  // namespace

TEST_CASE("chunks: every member takes each element of its blocks once for each size of chunks") {
  std::mt19937_64 random(1);
  for (const Collective collective : collectives::all_collectives) {
    if (collective == Collective::broadcast) continue;
    CAPTURE(collectives::name_of(collective));
    std::uint64_t wrong = 0;
    for (int i = 0; i < 200; ++i) {
      const auto members = static_cast<Rank>(2 + random() % 7);
      const CollectiveSpec task = random_spec(random, collective, members);
      wrong += wrong_elements(task, members + random() % 40);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE(
    "chunks: a value that fits into a chunk takes one round and every member the same chunk") {
  const auto topology =
      std::make_shared<const collectives::Topology>(collectives::Topology::clustered({4}));
  for (const Collective collective : {Collective::alltoall, Collective::allgather}) {
    const Count in = 8;
    const CollectiveSpec task =
        collectives::make_spec(collective, topology, collective == Collective::alltoall ? 2 : in);
    CHECK(Chunks(task, 0, in).rounds() == 1);
    CHECK(Chunks(task, 0, in).chunk(3) == in);
  }
  CHECK(Chunks(collectives::make_spec(Collective::alltoall, topology, 2), 0, 7).rounds() == 2);
  CHECK(Chunks(collectives::make_spec(Collective::allgather, topology, 13), 0, 4).rounds() == 4);
}
