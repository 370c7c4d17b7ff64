// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/dealing.hpp — assignment of the pieces of a stretch to the owners in a
// cluster.
#pragma once
#include <span>
#include <vector>

#include "collectives/schedule/topology.hpp"

namespace collectives {

/// A stretch cut into as many pieces as a cluster has owners. Owner x has piece (x + turn) mod
/// owners. If every stretch and cluster uses another turn, all pairs of owners eventually exchange
/// data, which many narrow streams between clusters need.
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

/// Calls `see` for each maximal subrange in which the owner does not change in any of the clusters.
/// Each cluster cuts the range independently; clusters exchange the overlaps of their pieces.
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
