// SPDX-License-Identifier: Apache-2.0
// groups/execution/step_memory.hpp — memory that the steps of a schedule read and write.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "base/payload.hpp"
#include "collectives/schedule/algorithm.hpp"
#include "groups/calls/fold.hpp"
#include "groups/calls/memory.hpp"

namespace groups {

/// Folds, copies, gathers and scatters the blocks of steps. A block may consist of several pieces
/// of memory. Reuses its lists from step to step.
///
/// Thread-safe: no.
class StepMemory {
 public:
  using Blocks = std::vector<collectives::Block>;
  /// Begins an operation. The arguments must outlive it. `is_in_unchecked`: whether values of `in`
  /// must be checked before they are sent or copied.
  void restart(Memory& memory, Fold& fold, bool is_in_unchecked);
  /// Finds the pieces of memory that form a message. Returns the size of the message in bytes.
  std::size_t find(const Blocks& blocks);
  /// Returns the pieces that the latest find(), fold() or copy() has found: the pieces of the
  /// message (find()), or the pieces of the result (fold() and copy()).
  const std::vector<std::span<std::byte>>& pieces() const { return into_; }
  std::size_t size_bytes() const;  ///< size of pieces()
  /// Returns one contiguous copy of the message that find() found. Consecutive calls for the same
  /// blocks share the copy, until drop_gathered().
  const base::Payload& gather(const Blocks& blocks);
  void drop_gathered() { gathered_ = {}; }
  /// Copies a received message to the pieces that find() found. The message must have the total
  /// size of these pieces.
  void scatter(std::span<const std::byte> message) const;
  /// Checks the values of the blocks of `in`, if they must be checked. A block that is sent to
  /// several peers in succession is checked once. Throws: base::BadValue.
  void check(const Blocks& blocks);
  /// Combines the second and the third block, and stores the result in the first. Returns the
  /// number of bytes that were read and written. Throws: base::BadValue.
  std::size_t fold(const Blocks& blocks);
  /// Copies the second block to the first. Returns the number of bytes that were read and written.
  /// Throws: base::BadValue.
  std::size_t copy(const Blocks& blocks);
  bool has_values() const { return memory_->has_values(); }

 private:
  void check(const collectives::Block& block);

  Memory* memory_ = nullptr;
  Fold* fold_ = nullptr;
  bool is_in_unchecked_ = false;
  collectives::Block checked_;  // the part of `in` that was checked last
  // Contiguous copy of the message that was gathered last, for further peers that get the same
  // data.
  base::Payload gathered_;
  Blocks gathered_blocks_;
  std::vector<std::span<std::byte>> into_, left_, right_;  // memory pieces of blocks
};

}  // namespace groups
