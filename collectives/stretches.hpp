// SPDX-License-Identifier: Apache-2.0
// collectives/stretches.hpp — a vector cut into what is sent on as one.
#pragma once
#include "collectives/block.hpp"

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
  /// Where scratch has it, which every stretch uses anew: hazards order who writes there next.
  Range scratch(Range range) const { return {range.offset % length_, range.count}; }

 private:
  Range whole_;
  Count length_;
};

}  // namespace collectives
