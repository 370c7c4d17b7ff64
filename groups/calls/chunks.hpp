// SPDX-License-Identifier: Apache-2.0
// groups/calls/chunks.hpp — division of a collective into rounds of small chunks
#pragma once
#include "collectives/schedule/collective_spec.hpp"

namespace groups {

/// Division of a collective into rounds, for hosts that pass values through a small memory. In each
/// round, each member writes one chunk of its `in` to the memory, and then copies or folds pieces
/// of the other members' chunks. In collectives with has_own_blocks(), each chunk contains a piece
/// of the block of every member, so that all members receive values in each round. Counts and
/// positions are in elements.
///
/// Broadcasts, gathers and reductions with one common result do not use this class.
/// Thread-safe: immutable. Borrows the specification.
class Chunks {
 public:
  /// A part to copy. `from` is the range of the part in the source array. `to` is the position of
  /// the part in the target array.
  struct Piece {
    collectives::Range from;
    collectives::Count to = 0;
  };

  /// Returns whether the members receive different blocks: in an alltoall, scatter or
  /// reduce-scatter.
  static bool has_own_blocks(collectives::Collective collective);
  /// `chunk_max` is the maximum number of elements in a chunk.
  /// Requires: `chunk_max` is at least the number of members.
  Chunks(const collectives::CollectiveSpec& task, collectives::Rank me,
         collectives::Count chunk_max);
  /// Returns the number of rounds: at least 1, and the same at all members.
  collectives::Count rounds() const { return rounds_; }
  /// Returns the capacity of a member's chunks in elements. Chunks of the last rounds can be partly
  /// empty.
  collectives::Count chunk(collectives::Rank member) const;
  /// Calls `use(piece)` for each part of `in` that this member's chunk of the round contains.
  /// piece.from is a range of `in`, piece.to is a position in the chunk.
  template <class Use>
  void each_given(collectives::Count round, const Use& use) const {
    if (!is_sliced()) return use(whole(me_, round));
    for (collectives::Rank target = 0; target < task_.size(); ++target) use(given(target, round));
  }
  /// Returns the part of `source`'s chunk that this member needs. `from` is the range of the part
  /// in that chunk. `to` is the position of the part in the block that `source` sends to this
  /// member.
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
