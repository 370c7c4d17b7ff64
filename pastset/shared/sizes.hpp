// SPDX-License-Identifier: Apache-2.0
// pastset/shared/sizes.hpp — memory limits of shared elements and rounding of their sizes
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace pastset {

/// Limits of one shared element. A shared space has a fixed size, so each element gets its limits
/// when it is made.
struct SharedSizes {
  std::uint64_t slots = 1024;           ///< number of tuples that are kept, plus one spare slot
  std::uint64_t arena_bytes = 1 << 20;  ///< memory in bytes for tuples above 48 bytes
  std::uint64_t line = 64;              ///< maximum number of moves that wait for room
  friend bool operator==(const SharedSizes&, const SharedSizes&) = default;
};

inline constexpr std::size_t line_bytes = 64;  ///< size of a cache line of the processor
inline constexpr std::size_t page_bytes = 4096;

constexpr std::uint64_t in_lines(std::uint64_t bytes) {
  return (bytes + line_bytes - 1) / line_bytes * line_bytes;
}
constexpr std::uint64_t in_pages(std::uint64_t bytes) {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

// ---- larger tuples, in the arena

/// Rounds the size of a tuple or extent up. Small sizes become whole cache lines. Large sizes
/// become whole pages, so that the memory can be returned to the kernel.
constexpr std::uint64_t extent_bytes(std::uint64_t bytes) {
  return bytes < 16 * page_bytes ? in_lines(bytes) : in_pages(bytes);
}
/// Returns the length of an extent (range of memory) for `bytes`. Only a few different lengths
/// exist, so a free extent often has exactly the length that the next tuple needs.
constexpr std::uint64_t extent_length(std::uint64_t bytes) {
  const std::uint64_t step = std::max<std::uint64_t>(std::bit_floor(bytes) / 8, line_bytes);
  return (bytes + step - 1) / step * step;
}
/// Returns the size of a chunk: an extent that several tuples of an element share, because each is
/// too small for an extent of its own. At most 256 chunks fill `arena_bytes`, the memory of the
/// element. A chunk is small enough for the cache of the processor.
constexpr std::uint64_t chunk_bytes(std::uint64_t arena_bytes) {
  constexpr std::uint64_t usual = 1 << 20;
  return extent_bytes(std::max(std::min(arena_bytes / 16, usual), arena_bytes / 256));
}
/// Whether a tuple has an extent of its own instead of a part of a chunk.
constexpr bool has_own_extent(std::uint64_t bytes, std::uint64_t arena_bytes) {
  return in_lines(bytes) > chunk_bytes(arena_bytes) / 4;
}
/// Returns how many tuples of `bytes` bytes fit in `arena_bytes` bytes at the same time, including
/// a tuple that is being moved. Requires that the oldest tuples are always freed first.
constexpr std::uint64_t tuples_in(std::uint64_t arena_bytes, std::uint64_t bytes) {
  if (has_own_extent(bytes, arena_bytes)) return arena_bytes / extent_bytes(bytes);
  const std::uint64_t chunk = chunk_bytes(arena_bytes), chunks = arena_bytes / chunk;
  return (chunks - 1) * (chunk / in_lines(bytes)) + 1;
}
/// Returns a value of arena_bytes that suffices for `tuples` tuples of `bytes` bytes.
constexpr std::uint64_t arena_bytes_for(std::uint64_t tuples, std::uint64_t bytes) {
  const std::uint64_t alone = tuples * extent_bytes(bytes);
  // Tuples in chunks need more memory, because the end of each chunk is unused, and the first and
  // last chunk are not full. One and a half times the memory suffices.
  return tuples_in(alone, bytes) >= tuples ? alone : extent_bytes(alone + alone / 2);
}

/// Limits of a space and of an element.
inline constexpr std::uint64_t shared_bytes_max = std::uint64_t{1} << 39;  ///< largest space
inline constexpr std::size_t shared_elements_max = 64;
inline constexpr std::size_t shared_name_bytes_max = 95;
inline constexpr std::size_t shared_template_bytes_max = 511;

}  // namespace pastset
