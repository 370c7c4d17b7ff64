// SPDX-License-Identifier: Apache-2.0
// pastset/shared/sizes.hpp — how much memory an element takes that several processes map.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace pastset {

/// How much of a shared space an element takes.
struct SharedSizes {
  std::uint64_t slots = 1024;           ///< tuples that are kept, with one to spare
  std::uint64_t arena_bytes = 1 << 20;  ///< of those above base::Payload::inline_bytes
  std::uint64_t line = 64;              ///< movers that may be blocked
  friend bool operator==(const SharedSizes&, const SharedSizes&) = default;
};

inline constexpr std::size_t line_bytes = 64;  ///< of the processor's cache
inline constexpr std::size_t page_bytes = 4096;

constexpr std::uint64_t in_lines(std::uint64_t bytes) {
  return (bytes + line_bytes - 1) / line_bytes * line_bytes;
}
constexpr std::uint64_t in_pages(std::uint64_t bytes) {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

// ---- larger tuples, in the arena

/// In whole pages where those cost little: they go back to the kernel.
constexpr std::uint64_t extent_bytes(std::uint64_t bytes) {
  return bytes < 16 * page_bytes ? in_lines(bytes) : in_pages(bytes);
}
/// How long an extent is that has room for so much: one of few lengths, so that the next one that
/// is asked for has the length of one that is free.
constexpr std::uint64_t extent_length(std::uint64_t bytes) {
  const std::uint64_t step = std::max<std::uint64_t>(std::bit_floor(bytes) / 8, line_bytes);
  return (bytes + step - 1) / step * step;
}
/// Of an extent that an element's smaller tuples share: large enough that a thousand hold all that
/// the element may have, and small enough to stay in the processor's cache.
constexpr std::uint64_t chunk_bytes(std::uint64_t arena_bytes) {
  constexpr std::uint64_t usual = 1 << 20;
  return extent_bytes(std::max(std::min(arena_bytes / 16, usual), arena_bytes / 256));
}
/// Whether a tuple has an extent of its own.
constexpr bool has_own_extent(std::uint64_t bytes, std::uint64_t arena_bytes) {
  return in_lines(bytes) > chunk_bytes(arena_bytes) / 4;
}
/// How many of that size there may be at once, the one that comes among them, when those that came
/// first go first.
constexpr std::uint64_t tuples_in(std::uint64_t arena_bytes, std::uint64_t bytes) {
  if (has_own_extent(bytes, arena_bytes)) return arena_bytes / extent_bytes(bytes);
  const std::uint64_t chunk = chunk_bytes(arena_bytes), chunks = arena_bytes / chunk;
  return (chunks - 1) * (chunk / in_lines(bytes)) + 1;
}
/// Enough for so many.
constexpr std::uint64_t arena_bytes_for(std::uint64_t tuples, std::uint64_t bytes) {
  const std::uint64_t alone = tuples * extent_bytes(bytes);
  // Shared extents have a rest, and the first and the last of them are not full.
  return tuples_in(alone, bytes) >= tuples ? alone : extent_bytes(alone + alone / 2);
}

/// What a space can have, and an element of it.
inline constexpr std::uint64_t shared_bytes_max = std::uint64_t{1} << 39;  ///< of a whole space
inline constexpr std::size_t shared_elements_max = 64;
inline constexpr std::size_t shared_name_bytes_max = 95;
inline constexpr std::size_t shared_template_bytes_max = 511;

}  // namespace pastset
