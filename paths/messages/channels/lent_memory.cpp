// SPDX-License-Identifier: Apache-2.0
// paths/messages/channels/lent_memory.cpp — copying between the caller's memory and frames
#include "paths/messages/channels/lent_memory.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/errors.hpp"

namespace paths {

LentMemory::LentMemory(std::span<const std::span<std::byte>> pieces) {
  pieces_.reserve(pieces.size());
  for (const std::span<std::byte> piece : pieces) {
    if (piece.empty()) continue;
    pieces_.push_back({size_, piece});
    size_ += piece.size();
  }
}

template <class Use>
void LentMemory::for_each(std::uint64_t offset, std::uint64_t bytes, const Use& use) const {
  ENSURE(offset <= size_ && bytes <= size_ - offset);
  if (bytes == 0) return;
  auto piece = std::prev(
      std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                       [](std::uint64_t at, const Piece& one) { return at < one.begin; }));
  for (; bytes > 0; ++piece) {
    const std::uint64_t from = offset - piece->begin;
    const std::uint64_t some = std::min(bytes, piece->bytes.size() - from);
    use(piece->bytes.subspan(from, some));
    offset += some;
    bytes -= some;
  }
}

base::Payload LentMemory::copy(std::uint64_t offset, std::uint64_t bytes) const {
  return base::Payload::filled(bytes, [&](std::span<std::byte> space) {
    for_each(offset, bytes, [&](std::span<const std::byte> some) {
      std::memcpy(space.data(), some.data(), some.size());
      space = space.subspan(some.size());
    });
  });
}

void LentMemory::write(std::uint64_t offset, std::span<const std::byte> bytes) const {
  for_each(offset, bytes.size(), [&](std::span<std::byte> some) {
    std::memcpy(some.data(), bytes.data(), some.size());
    bytes = bytes.subspan(some.size());
  });
}

}  // namespace paths
