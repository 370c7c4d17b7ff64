// SPDX-License-Identifier: Apache-2.0
// base/large_memory.hpp — memory for large values, kept for the next one.
#pragma once
#include <cstddef>

namespace base {

/// From this size on, memory that comes fresh from the system costs more than what is done with it:
/// a page fault for each 4 KiB, and a return to the system each time it is freed.
inline constexpr std::size_t large_bytes = 1 << 20;
/// Most that is kept while nobody uses it, never more than the program once had in use. Sizes that
/// were used before make room for new ones. What is kept is marked as free: when memory is short
/// the system takes it back, without asking.
inline constexpr std::size_t large_bytes_kept = 512 << 20;

/// At least that many bytes, with huge pages where they fit, aligned as a page is. Never blocks.
/// Sharing: from any thread. Throws std::bad_alloc.
void* take_large(std::size_t bytes);
/// What take_large() gave for that many bytes, by any thread.
void give_large(void* memory, std::size_t bytes) noexcept;

/// What has happened in this process so far, for tests and figures.
struct LargeMemory {
  std::size_t taken = 0;       ///< times that a value asked for some
  std::size_t mapped = 0;      ///< times that the system was asked
  std::size_t bytes_kept = 0;  ///< which nobody uses now
};
LargeMemory large_memory() noexcept;

}  // namespace base
