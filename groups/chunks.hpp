// SPDX-License-Identifier: Apache-2.0
// groups/chunks.hpp — division of a collective into rounds of small chunks
#pragma once
#include "collectives/schedule/collective_spec.hpp"

namespace groups {

/// Division of a collective into rounds, for hosts that pass values through a small memory. In each
/// round, a member gives one chunk of its `in`, and then takes pieces of the chunks that the
/// others gave. If each member takes a block of its own, then each chunk has a piece of every
/// block, so that all members take values in all rounds. Counts and positions are elements.
///
/// Not for broadcasts, gathers and reductions to a common result.
/// Thread-safe: immutable. Borrows the specification.
class Chunks {
 public:
  /// A part of an array, and where it belongs.
  struct Piece {
    collectives::Range from;
    collectives::Count to = 0;
  };

  /// Returns whether each participant takes a block of its own from each other one.
  static bool has_own_blocks(collectives::Collective collective);
  /// Chunks have at most `chunk_max` elements: one for each member, or more.
  Chunks(const collectives::CollectiveSpec& task, collectives::Rank me,
         collectives::Count chunk_max);
  /// Returns the number of rounds: at least 1, and the same at all members.
  collectives::Count rounds() const { return rounds_; }
  /// Returns the size of the chunks of a member; those of the last rounds may be filled in part.
  collectives::Count chunk(collectives::Rank member) const;
  /// Calls `use(piece)` for each part of `in` of this member that its chunk contains: `from` in
  /// `in`, `to` in the chunk.
  template <class Use>
  void each_given(collectives::Count round, const Use& use) const {
    if (!is_sliced()) return use(whole(me_, round));
    for (collectives::Rank target = 0; target < task_.size(); ++target) use(given(target, round));
  }
  /// Returns what this member takes from the chunk of `source`: `from` in the chunk, `to` in the
  /// block that `source` gives to this member.
  Piece taken(collectives::Rank source, collectives::Count round) const;

 private:
  bool is_sliced() const { return has_own_blocks(task_.collective) && rounds_ > 1; }
  collectives::Range block(collectives::Rank source, collectives::Rank target) const;
  Piece whole(collectives::Rank member, collectives::Count round) const;
  Piece given(collectives::Rank target, collectives::Count round) const;

  const collectives::CollectiveSpec& task_;
  const collectives::Rank me_;
  const collectives::Count chunk_max_, slice_max_;
  collectives::Count rounds_ = 1;
};

}  // namespace groups
