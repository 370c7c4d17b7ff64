// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/dealing.hpp — division of a section of a vector into pieces, and the member
// of a cluster that owns each piece.
#pragma once
#include <span>
#include <vector>

#include "collectives/schedule/topology.hpp"

namespace collectives {

/// A stretch (a section of a vector) cut into pieces, one for each owner in a cluster. An owner is
/// a member that exchanges its piece with other clusters. If there are n owners, owner x has piece
/// (x + turn) mod n.
///
/// Why: If `turn` differs between stretches and between clusters, all pairs of owners in two
///      clusters exchange data over several stretches. All streams between the clusters are then in
///      use, even if each stream is narrow.
class Dealing {
 public:
  Dealing(Range stretch, std::span<const Rank> owners, Count turn)
      : stretch_(stretch), owners_(owners), turn_(turn % owners.size()) {}

  Range piece(std::size_t owner) const {
    return piece_of(stretch_, owners_.size(), (owner + turn_) % owners_.size());
  }
  std::vector<Range> pieces() const {
    std::vector<Range> all;
    for (std::size_t owner = 0; owner < owners_.size(); ++owner) all.push_back(piece(owner));
    return all;
  }
  /// Returns the index of the owner whose piece contains element `offset`.
  std::size_t owner_index(Count offset) const {
    const Count index = piece_at(stretch_, owners_.size(), offset);
    return (index + owners_.size() - turn_) % owners_.size();
  }
  Rank owner(Count offset) const { return owners_[owner_index(offset)]; }
  Count end_of_piece(Count offset) const { return piece(owner_index(offset)).end(); }

 private:
  Range stretch_;
  std::span<const Rank> owners_;
  Count turn_;
};

/// Cuts `range` at the ends of all clusters' pieces, and calls `see` for each part. Each part then
/// lies inside the piece of one owner in every cluster. The pieces of different clusters have
/// different ends, so two owners exchange only the overlap of their pieces.
template <class Dealings, class See>
void for_common_ranges(Range range, const Dealings& dealings, const See& see) {
  while (range.count > 0) {
    Count end = range.end();
    for (const Dealing& dealing : dealings) end = std::min(end, dealing.end_of_piece(range.offset));
    see(Range{range.offset, end - range.offset});
    range = {end, range.end() - end};
  }
}

}  // namespace collectives
