// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/cell_numbers.hpp — consecutive numbers for all cells that a schedule
// accesses.
#pragma once
#include <span>
#include <vector>

#include "collectives/schedule/algorithm.hpp"

namespace collectives {

/// Numbers the cells (elements) of all buffers of all participants consecutively. Data about cells
/// can then be kept in one array.
class CellNumbers {
 public:
  /// Cells of one buffer.
  struct Cells {
    Buffer buffer;
    /// Number of cells. It covers every block that steps access. For the buffers `in` and `out`, it
    /// also covers the contribution and the result.
    Count count = 0;
    std::size_t first = 0;  ///< number of the first cell
  };

  CellNumbers(const CollectiveSpec& task, const Schedule& schedule);

  std::size_t count() const { return count_; }
  std::span<const Cells> of(Rank rank) const {
    return std::span(all_).subspan(begins_[rank], begins_[rank + 1] - begins_[rank]);
  }
  /// Returns the number of the first cell of `block`.
  /// Requires: some step of `rank` accesses the block.
  std::size_t first(Rank rank, const Block& block) const {
    return of_buffer(rank, block.buffer).first + block.cells.offset;
  }
  /// Returns the cells of a buffer.
  /// Requires: the collective or some step of `rank` uses the buffer.
  const Cells& of_buffer(Rank rank, Buffer buffer) const {
    std::size_t at = begins_[rank];
    while (all_[at].buffer != buffer) ++at;
    return all_[at];
  }

 private:
  void touch(std::size_t begin, const Block& block);

  std::vector<Cells> all_;
  // Index in `all_` of each participant's first buffer; the last entry is all_.size().
  std::vector<std::size_t> begins_;
  std::size_t count_ = 0;
};

}  // namespace collectives
