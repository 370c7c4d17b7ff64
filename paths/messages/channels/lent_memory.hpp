// SPDX-License-Identifier: Apache-2.0
// paths/messages/channels/lent_memory.hpp — the caller's memory for a message, in pieces
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/payload.hpp"

namespace paths {

/// Memory of the caller that contains a message to send, or that will receive a message. The memory
/// has several pieces, which form one sequence of bytes. Outgoing frames are copied directly from
/// this memory, and incoming frames directly into it. Large messages are therefore not stored
/// twice.
///
/// Owns: nothing. The class that borrows the memory defines how long it must be valid
///       (paths/messages/group.hpp).
class LentMemory {
 public:
  LentMemory() = default;
  explicit LentMemory(std::span<const std::span<std::byte>> pieces);
  std::uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // copy() and write() require that their bytes from `offset` on lie within the memory.
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
