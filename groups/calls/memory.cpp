// SPDX-License-Identifier: Apache-2.0
// groups/calls/memory.cpp — memory of schedule buffers, in chunks found by their first element
#include "groups/calls/memory.hpp"

#include <algorithm>

#include "base/errors.hpp"
#include "base/large_memory.hpp"
#include "runtime/wait.hpp"

namespace groups {

using collectives::Block;
using collectives::Buffer;
using collectives::Count;
using collectives::Range;

void Memory::lend(Buffer buffer, Range range, std::span<std::byte> bytes) {
  ENSURE_EQ(bytes.size(), this->bytes(range.count));
  ENSURE(buffer == collectives::in || buffer == collectives::out);
  Chunk& lent = buffer == collectives::in ? in_ : out_;
  lent.range = range;
  lent.bytes = bytes;
}

/// All callers share one block. When a call needs a larger block, the earlier blocks are kept,
/// because callers still refer to them. The earlier blocks cost no memory: the operating system
/// provides no pages for memory that is never used.
base::Payload nothing(std::size_t bytes) {
  static runtime::Mutex mutex;
  static std::vector<base::Payload> all;
  const runtime::Lock lock(mutex);
  if (all.empty() || all.back().size() < bytes)
    all.push_back(base::Buffer(std::max(2 * bytes, base::mapped_bytes)).freeze());
  return all.back().part(0, bytes);
}

std::span<std::byte> memory_of_nothing(std::size_t bytes) {
  const base::Payload all = nothing(bytes);  // stays allocated until the process ends
  return {const_cast<std::byte*>(all.bytes().data()), bytes};
}

Memory::Chunks::iterator Memory::add_scratch(Chunks& chunks, Range range) {
  const auto added = chunks.try_emplace(range.offset).first;
  Chunk& chunk = added->second;
  chunk.range = range;
  if (!has_values_) {
    chunk.bytes = memory_of_nothing(bytes(range.count));
    return added;
  }
  chunk.made = base::Buffer(bytes(range.count));
  // Must follow the assignment above: a small buffer contains its bytes, so their address changes
  // when the buffer is moved.
  chunk.bytes = chunk.made.bytes();
  return added;
}

void Memory::find(const Block& block, std::vector<std::span<std::byte>>& pieces) {
  if (block.buffer == collectives::in) return find_lent(in_, block.cells, pieces);
  if (block.buffer == collectives::out) return find_lent(out_, block.cells, pieces);
  find_scratch(scratch_[block.buffer], block.cells, pieces);
}

void Memory::find_lent(const Chunk& lent, Range cells,
                       std::vector<std::span<std::byte>>& pieces) const {
  if (cells.count == 0 || element_bytes_ == 0) return;  // a barrier's tokens have no bytes
  ENSURE(lent.range.offset <= cells.offset && cells.end() <= lent.range.end());
  pieces.push_back(lent.bytes.subspan(bytes(cells.offset - lent.range.offset), bytes(cells.count)));
}

void Memory::find_scratch(Chunks& chunks, Range cells, std::vector<std::span<std::byte>>& pieces) {
  Count at = cells.offset;
  const Count end = cells.end();
  auto next = chunks.upper_bound(at);
  if (next != chunks.begin() && std::prev(next)->second.range.end() > at) --next;
  while (at < end) {
    if (next == chunks.end() || next->second.range.offset > at) {
      const Count until = next == chunks.end() ? end : std::min(end, next->second.range.offset);
      next = add_scratch(chunks, {at, until - at});
    }
    const Chunk& chunk = next->second;
    const Count count = std::min(end, chunk.range.end()) - at;
    if (element_bytes_ > 0)
      pieces.push_back(chunk.bytes.subspan(bytes(at - chunk.range.offset), bytes(count)));
    at += count;
    ++next;
  }
}

}  // namespace groups
