// SPDX-License-Identifier: Apache-2.0
// base/large_memory.hpp — memory for large values that is kept for reuse
#pragma once
#include <cstddef>

namespace base {

/// Smallest size that is kept for reuse. From this size on, fresh memory costs more time than
/// computing on it. The C library returns freed memory to the system. Each new use then takes a
/// page fault for each 4 KiB.
inline constexpr std::size_t large_bytes = 64 << 10;
/// Smallest size of blocks that are mapped one by one. Smaller blocks come from the heap, because
/// the system limits the number of mappings of a process.
inline constexpr std::size_t mapped_bytes = 1 << 20;
/// Maximum number of bytes in kept blocks, which are unused. If it is reached, blocks of sizes that
/// the program probably no longer uses are freed. Kept blocks that are mapped are marked as free
/// (MADV_FREE), so the system can reclaim them when memory is short.
inline constexpr std::size_t large_bytes_kept = 512 << 20;

/// Returns at least `bytes` bytes, aligned to a page, with huge pages if they fit. Never blocks.
/// Thread-safe. Throws std::bad_alloc. Requires: `bytes` is large_bytes or more.
void* take_large(std::size_t bytes);
/// Gives back a block that take_large(bytes) returned. Any thread may call it.
void give_large(void* memory, std::size_t bytes) noexcept;

/// Counters since the start of the process, for tests and metrics.
struct LargeMemory {
  std::size_t taken = 0;       ///< number of requests for mapped_bytes or more
  std::size_t mapped = 0;      ///< number of blocks that were allocated or mapped anew
  std::size_t bytes_kept = 0;  ///< bytes in unused blocks
};
LargeMemory large_memory() noexcept;

}  // namespace base
