// SPDX-License-Identifier: Apache-2.0
// base/copy_few.hpp — a copy of bytes that is fast for a single 8-byte value
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace base {

/// Copies the bytes of `from` to `to`. If there are exactly eight bytes, the compiler replaces
/// memcpy() by one load and one store.
inline void copy_few(std::span<const std::byte> from, std::byte* to) noexcept {
  if (from.size() == sizeof(std::uint64_t))
    std::memcpy(to, from.data(), sizeof(std::uint64_t));
  else if (!from.empty())
    std::memcpy(to, from.data(), from.size());
}

}  // namespace base
