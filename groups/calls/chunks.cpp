// SPDX-License-Identifier: Apache-2.0
// groups/calls/chunks.cpp — which elements a member sends and receives in a round
#include "groups/calls/chunks.hpp"

#include <algorithm>

#include "base/errors.hpp"

namespace groups {

using collectives::Collective;
using collectives::Count;
using collectives::Range;
using collectives::Rank;

namespace {

/// Returns a part of a block of `count` elements. The part begins at `begin` and has at most `most`
/// elements.
Range part_of(Count count, Count begin, Count most) {
  if (begin >= count) return {count, 0};
  return {begin, std::min(most, count - begin)};
}

Count rounded_up(Count count, Count unit) { return count / unit + (count % unit > 0 ? 1 : 0); }

}  // namespace

bool Chunks::has_own_blocks(Collective collective) {
  return collective == Collective::alltoall || collective == Collective::scatter ||
         collective == Collective::reduce_scatter;
}

Chunks::Chunks(const collectives::CollectiveSpec& task, Rank me, Count chunk_max)
    : task_(task), me_(me), chunk_max_(chunk_max), slice_max_(chunk_max / task.size()) {
  ENSURE(slice_max_ > 0);
  Count given_max = 0;
  for (Rank source = 0; source < task_.size(); ++source)
    given_max = std::max(given_max, collectives::in_range(task_, source).count);
  if (given_max <= chunk_max_) return;
  if (!has_own_blocks(task_.collective)) {
    rounds_ = rounded_up(given_max, chunk_max_);
    return;
  }
  rounds_ = rounded_up(task_.counts.largest(), slice_max_);
  ENSURE(rounds_ > 1);
}

Count Chunks::chunk(Rank member) const {
  return rounds_ > 1 ? chunk_max_ : collectives::in_range(task_, member).count;
}

/// Returns the range of the `in` array of `source` that `target` receives, in all rounds together.
Range Chunks::block(Rank source, Rank target) const {
  switch (task_.collective) {
    case Collective::alltoall: return collectives::given(task_, source, target);
    case Collective::scatter: return source == task_.root ? task_.counts.block(target) : Range{};
    case Collective::reduce_scatter: return task_.counts.block(target);
    default: return {0, collectives::in_range(task_, source).count};
  }
}

Chunks::Piece Chunks::whole(Rank member, Count round) const {
  return {part_of(collectives::in_range(task_, member).count, round * chunk_max_, chunk_max_), 0};
}

Chunks::Piece Chunks::given(Rank target, Count round) const {
  const Range all = block(me_, target), part = part_of(all.count, round * slice_max_, slice_max_);
  return {{all.offset + part.offset, part.count}, target * slice_max_};
}

Chunks::Piece Chunks::taken(Rank source, Count round) const {
  const Range all = block(source, me_);
  if (!has_own_blocks(task_.collective)) {
    const Range part = part_of(all.count, round * chunk_max_, chunk_max_);
    return {{0, part.count}, part.offset};
  }
  if (!is_sliced()) return {all, 0};
  const Range part = part_of(all.count, round * slice_max_, slice_max_);
  return {{me_ * slice_max_, part.count}, part.offset};
}

}  // namespace groups
