// SPDX-License-Identifier: Apache-2.0
// groups/memory.hpp — where the elements of a schedule's buffers lie.
#pragma once
#include <cstddef>
#include <map>
#include <memory_resource>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "collectives/schedule/block.hpp"

namespace groups {

/// Bytes that nobody reads or writes, of the same memory for all who ask.
base::Payload nothing(std::size_t bytes);
std::span<std::byte> memory_of_nothing(std::size_t bytes);

/// The buffers of one participant: what it gives and gets is its caller's memory, scratch is made
/// where a step first touches it, and no more of it than steps touch. Where values do not count it
/// is nothing().
///
/// Owns:    the scratch.
/// Sharing: one context's at a time.
class Memory {
 public:
  explicit Memory(std::size_t element_bytes, bool has_values = true)
      : element_bytes_(element_bytes), has_values_(has_values) {}
  bool has_values() const { return has_values_; }

  /// All that there is of `in` or `out` lies there from now on; `in` is never written. Bytes are
  /// the range's.
  void lend(collectives::Buffer buffer, collectives::Range range, std::span<std::byte> bytes);

  /// The bytes of a block, in its order, in as few pieces as they lie in.
  void find(const collectives::Block& block, std::vector<std::span<std::byte>>& pieces);
  std::size_t bytes(collectives::Count elements) const { return elements * element_bytes_; }

 private:
  struct Chunk {
    collectives::Range range;
    base::Buffer made;           // of scratch
    std::span<std::byte> bytes;  // of it, or lent
  };
  using Chunks = std::pmr::map<collectives::Count, Chunk>;  // by where they begin; none overlap
  Chunks::iterator add_scratch(Chunks& chunks, collectives::Range range);
  void find_lent(const Chunk& lent, collectives::Range cells,
                 std::vector<std::span<std::byte>>& pieces) const;
  void find_scratch(Chunks& chunks, collectives::Range cells,
                    std::vector<std::span<std::byte>>& pieces);

  const std::size_t element_bytes_;
  const bool has_values_;
  Chunk in_, out_;
  std::byte room_[1024];  // enough for what small operations know of their scratch
  std::pmr::monotonic_buffer_resource known_{room_, sizeof room_};
  std::pmr::map<collectives::Buffer, Chunks> scratch_{&known_};
};

}  // namespace groups
