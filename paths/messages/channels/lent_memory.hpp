// SPDX-License-Identifier: Apache-2.0
// paths/messages/channels/lent_memory.hpp — where a message lies at who sends it, or is to lie at
// who gets it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/payload.hpp"

namespace paths {

/// Memory of the caller's in pieces, whose bytes follow each other. Frames are copied out of it as
/// they leave, and into it as they come, so that no message lies anywhere as a whole besides.
///
/// Owns:    nothing; who lends it says until when (paths/messages/group.hpp).
class LentMemory {
 public:
  LentMemory() = default;
  explicit LentMemory(std::span<const std::span<std::byte>> pieces);
  std::uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // What lies within it:
  base::Payload copy(std::uint64_t offset, std::uint64_t bytes) const;
  void write(std::uint64_t offset, std::span<const std::byte> bytes) const;

 private:
  struct Piece {
    std::uint64_t begin = 0;
    std::span<std::byte> bytes;
  };
  template <class Use>
  void for_each(std::uint64_t offset, std::uint64_t bytes, const Use& use) const;
  std::vector<Piece> pieces_;
  std::uint64_t size_ = 0;
};

}  // namespace paths
