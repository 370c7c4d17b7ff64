// SPDX-License-Identifier: Apache-2.0
// groups/calls/memory.hpp — memory of a schedule's buffers.
#pragma once
#include <cstddef>
#include <map>
#include <memory_resource>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "collectives/schedule/block.hpp"

namespace groups {

/// Return memory that no caller reads or writes, for calls whose arrays have a size but no values.
/// All callers get the same memory.
base::Payload nothing(std::size_t bytes);
std::span<std::byte> memory_of_nothing(std::size_t bytes);

/// The buffers of one participant. `in` and `out` are the caller's memory. Scratch memory is
/// allocated when a step first uses it, and only as much as steps use. If calls have no values
/// (Call::has_values), scratch memory is the common memory that memory_of_nothing() returns.
///
/// Owns:        the scratch memory.
/// Thread-safe: no; one OS thread or fiber at a time.
class Memory {
 public:
  explicit Memory(std::size_t element_bytes, bool has_values = true)
      : element_bytes_(element_bytes), has_values_(has_values) {}
  bool has_values() const { return has_values_; }

  /// Uses `bytes` as the memory of the given range of the buffer `in` or `out`. This object never
  /// writes to `in`.
  /// Requires: `bytes` has the size of the range.
  void lend(collectives::Buffer buffer, collectives::Range range, std::span<std::byte> bytes);

  /// Appends the memory of a block to `pieces`, in the block's order and in as few pieces as
  /// possible.
  void find(const collectives::Block& block, std::vector<std::span<std::byte>>& pieces);
  std::size_t bytes(collectives::Count elements) const { return elements * element_bytes_; }

 private:
  struct Chunk {
    collectives::Range range;
    base::Buffer made;           // set for scratch memory only
    std::span<std::byte> bytes;  // the bytes of `made`, or the caller's memory
  };
  // Disjoint chunks, keyed by first element.
  using Chunks = std::pmr::map<collectives::Count, Chunk>;
  Chunks::iterator add_scratch(Chunks& chunks, collectives::Range range);
  void find_lent(const Chunk& lent, collectives::Range cells,
                 std::vector<std::span<std::byte>>& pieces) const;
  void find_scratch(Chunks& chunks, collectives::Range cells,
                    std::vector<std::span<std::byte>>& pieces);

  const std::size_t element_bytes_;
  const bool has_values_;
  Chunk in_, out_;
  std::byte room_[1024];  // memory of the maps in scratch_ while they are small
  std::pmr::monotonic_buffer_resource known_{room_, sizeof room_};
  std::pmr::map<collectives::Buffer, Chunks> scratch_{&known_};
};

}  // namespace groups
