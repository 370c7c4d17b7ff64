// SPDX-License-Identifier: Apache-2.0
// base/large_memory.hpp — memory for large values that is kept for reuse
#pragma once
#include <cstddef>

namespace base {

/// Smallest size that is kept for reuse. From this size on, fresh memory costs more than the work
/// on it. The cost is a page fault for each 4 KiB, and a return to the system at each free.
inline constexpr std::size_t large_bytes = 1 << 20;
/// Maximum number of unused bytes that are kept; never more than the program has once used. Blocks
/// of a size no longer used make room for new ones. Kept blocks are marked as free (MADV_FREE), so
/// the system can reclaim them when memory is short.
inline constexpr std::size_t large_bytes_kept = 512 << 20;

/// Returns at least `bytes` bytes, aligned to a page, with huge pages if they fit. Never blocks.
/// Thread-safe. Throws std::bad_alloc.
void* take_large(std::size_t bytes);
/// Gives back a block that take_large(bytes) returned. Any thread may call it.
void give_large(void* memory, std::size_t bytes) noexcept;

/// Counters since the start of the process, for tests and metrics.
struct LargeMemory {
  std::size_t taken = 0;       ///< number of requests for a block
  std::size_t mapped = 0;      ///< number of mappings by the system
  std::size_t bytes_kept = 0;  ///< bytes in unused blocks
};
LargeMemory large_memory() noexcept;

}  // namespace base
