// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/cell_numbers.hpp — one number for each cell that a schedule touches.
#pragma once
#include <span>
#include <vector>

#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// The cells of all buffers of all participants, numbered one after the other: what is known of
/// them lies in one array.
class CellNumbers {
 public:
  /// Those of a buffer: the task's or what steps touch, whichever goes further.
  struct Cells {
    Buffer buffer;
    Count count = 0;
    std::size_t first = 0;
  };

  CellNumbers(const CollectiveSpec& task, const Schedule& schedule);

  std::size_t count() const { return count_; }
  std::span<const Cells> of(Rank rank) const {
    return std::span(all_).subspan(begins_[rank], begins_[rank + 1] - begins_[rank]);
  }
  /// The number of the first cell of a block, which some step touches.
  std::size_t first(Rank rank, const Block& block) const {
    return of_buffer(rank, block.buffer).first + block.cells.offset;
  }
  /// Those of a buffer that the task or some step of that participant has.
  const Cells& of_buffer(Rank rank, Buffer buffer) const {
    std::size_t at = begins_[rank];
    while (all_[at].buffer != buffer) ++at;
    return all_[at];
  }

 private:
  void touch(std::size_t begin, const Block& block);

  std::vector<Cells> all_;
  std::vector<std::size_t> begins_;  // by participant, and where the last one ends
  std::size_t count_ = 0;
};

}  // namespace collectives
