// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/stretches.hpp — a vector cut into what is sent on as one.
#pragma once
#include <limits>

#include "collectives/schedule/block.hpp"

namespace collectives {

/// A vector in stretches of `length` elements, the last one shorter; 0: all of it in one.
/// Segmenting a collective is doing it again for the next stretch.
class Stretches {
 public:
  Stretches(Range whole, Count length)
      : whole_(whole), length_(length == 0 ? std::max<Count>(whole.count, 1) : length) {}
  Count count() const { return whole_.count / length_ + (whole_.count % length_ > 0 ? 1 : 0); }
  Range operator[](Count index) const {
    const Count from = index * length_;
    return {whole_.offset + from, std::min(length_, whole_.count - from)};
  }
  /// Where scratch has it, which has room for a few stretches and is used anew: hazards order who
  /// writes there next. With room for one, a sum that waits for another cluster's would hold up the
  /// next stretch.
  Range scratch(Range range) const { return {range.offset % reach(), range.count}; }
  /// How many elements of scratch that takes, of a vector that begins at 0.
  Count room() const { return std::min(reach(), whole_.end()); }

 private:
  Count reach() const { return length_ <= most / slots ? slots * length_ : length_; }

  static constexpr Count slots = 8;
  static constexpr Count most = std::numeric_limits<Count>::max();
  Range whole_;
  Count length_;
};

}  // namespace collectives
