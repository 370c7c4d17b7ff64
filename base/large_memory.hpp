// SPDX-License-Identifier: Apache-2.0
// base/large_memory.hpp — memory for large values that is kept for reuse
#pragma once
#include <cstddef>

namespace base {

/// Smallest size of blocks that are kept for reuse, in bytes. The allocation of such a block would
/// take more time than a computation on the block. The reason is that the C library returns freed
/// blocks of this size to the system. Each new block would then need one page fault per 4 KiB.
inline constexpr std::size_t large_bytes = 64 << 10;
/// Smallest size of blocks that each get a mapping of their own (mmap). Smaller blocks come from
/// the heap, because the system limits the number of mappings of a process.
inline constexpr std::size_t mapped_bytes = 1 << 20;
/// Maximum number of bytes in unused blocks that are kept for reuse. If a block that is given back
/// would exceed this maximum, give_large() frees kept blocks of other sizes. The program probably
/// no longer uses those sizes. Kept blocks with a mapping of their own are marked as free
/// (MADV_FREE), so the system can reclaim them when memory is short.
inline constexpr std::size_t large_bytes_kept = 512 << 20;

/// Returns at least `bytes` bytes, aligned to a page. Requests huge pages for a block that can
/// contain one. Never blocks. Thread-safe. Throws std::bad_alloc.
/// Requires: `bytes` is large_bytes or more.
void* take_large(std::size_t bytes);
/// Gives back a block that take_large(bytes) returned. Thread-safe.
void give_large(void* memory, std::size_t bytes) noexcept;

/// Counters since the start of the process, for tests and metrics.
struct LargeMemory {
  std::size_t taken = 0;       ///< number of blocks of mapped_bytes or more that were requested
  std::size_t mapped = 0;      ///< number of blocks of any size that were allocated, not reused
  std::size_t bytes_kept = 0;  ///< bytes in blocks that are kept for reuse
};
LargeMemory large_memory() noexcept;

}  // namespace base
