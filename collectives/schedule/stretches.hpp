// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/stretches.hpp — division of a vector into stretches that are processed
// separately.
#pragma once
#include <limits>

#include "collectives/schedule/block.hpp"

namespace collectives {

/// A vector cut into stretches of `length` elements; the last stretch may be shorter. If `length`
/// is 0, the whole vector is one stretch. A segmented collective runs once for each stretch.
class Stretches {
 public:
  Stretches(Range whole, Count length)
      : whole_(whole), length_(length == 0 ? std::max<Count>(whole.count, 1) : length) {}
  Count count() const { return whole_.count / length_ + (whole_.count % length_ > 0 ? 1 : 0); }
  Range operator[](Count index) const {
    const Count from = index * length_;
    return {whole_.offset + from, std::min(length_, whole_.count - from)};
  }
  /// Returns the range of a scratch buffer that holds the elements of `range`. The buffer has room
  /// for `slots` stretches. Later stretches reuse the room of earlier ones: a step that overwrites
  /// elements waits for the earlier steps that use them.
  /// Why: With room for one stretch only, a sum that waits for another cluster would block the next
  ///      stretch.
  Range scratch(Range range) const { return {range.offset % reach(), range.count}; }
  /// Returns the number of scratch elements needed for a vector that begins at 0.
  Count room() const { return std::min(reach(), whole_.end()); }

 private:
  Count reach() const { return length_ <= most / slots ? slots * length_ : length_; }

  static constexpr Count slots = 8;
  static constexpr Count most = std::numeric_limits<Count>::max();
  Range whole_;
  Count length_;
};

}  // namespace collectives
