// SPDX-License-Identifier: Apache-2.0
// base/large_memory.cpp — a lock-free cache of unused large blocks
#include "base/large_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <new>

namespace base {
namespace {

constexpr std::size_t huge_page = 2 << 20;
/// The size of a block with a mapping of its own is a multiple of `mapped_step`. The size of a heap
/// block is a multiple of `heap_step`. A block is reused only for a request that rounds up to the
/// same size, because programs mostly request the same sizes again.
constexpr std::size_t mapped_step = 64 << 10, heap_step = 16 << 10;
constexpr std::size_t heap_alignment = 64 << 10;

/// Address of a kept block plus the block's size in units of heap_step; 0 = empty entry. The size
/// is in the low bits, which are 0 in the address of an aligned block.
using Kept = std::uintptr_t;
static_assert(large_bytes_kept / heap_step < heap_alignment && huge_page % heap_alignment == 0);
std::array<std::atomic<Kept>, 64> places{};
std::atomic<std::size_t> kept{0};
std::atomic<std::size_t> taken{0};
std::atomic<std::size_t> mapped{0};

std::size_t size_for(std::size_t bytes) {
  const std::size_t step = bytes < mapped_bytes - heap_step ? heap_step : mapped_step;
  return (bytes + step - 1) / step * step;
}

bool is_mapped(std::size_t size) { return size >= mapped_bytes; }

/// Maps a block aligned to a huge page, and unmaps the parts before and after it.
void* map(std::size_t size) {
  const std::size_t all = size + huge_page;
  void* const got =
      ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED) throw std::bad_alloc();
  mapped.fetch_add(1, std::memory_order_relaxed);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(got) % huge_page;
  std::byte* const block = static_cast<std::byte*>(got) + before;
  if (before > 0) ::munmap(got, before);
  ::munmap(block + size, huge_page - before);
  // Huge pages are optional; without them the block is only slower.
  if (size >= huge_page) ::madvise(block, size / huge_page * huge_page, MADV_HUGEPAGE);
  return block;
}

void* allocate(std::size_t size) {
  if (is_mapped(size)) return map(size);
  void* const block = ::operator new (size, std::align_val_t{heap_alignment});
  mapped.fetch_add(1, std::memory_order_relaxed);
  return block;
}

void release(void* block, std::size_t size) {
  if (is_mapped(size))
    ::munmap(block, size);
  else
    ::operator delete (block, std::align_val_t{heap_alignment});
}

Kept as_kept(void* block, std::size_t size) {
  return reinterpret_cast<std::uintptr_t>(block) | (size / heap_step);
}

/// Stores the block in an empty entry of the cache. Returns false if the cache is full.
bool keep(Kept block) {
  return std::any_of(places.begin(), places.end(), [block](std::atomic<Kept>& place) {
    Kept none = 0;
    return place.load(std::memory_order_relaxed) == none &&
           place.compare_exchange_strong(none, block, std::memory_order_release,
                                         std::memory_order_relaxed);
  });
}

std::size_t size_of(Kept block) { return block % heap_alignment * heap_step; }

bool take_out(std::atomic<Kept>& place, Kept block) {
  if (!place.compare_exchange_strong(block, 0, std::memory_order_acquire,
                                     std::memory_order_relaxed))
    return false;
  kept.fetch_sub(size_of(block), std::memory_order_relaxed);
  return true;
}

void* address_of(Kept block) { return reinterpret_cast<void*>(block - block % heap_alignment); }

/// Frees one cached block whose size is not `size`, because the program probably no longer uses the
/// size of that block. Returns false if every cached block has the size `size`.
bool give_back_one_of_another_size(std::size_t size) {
  return std::any_of(places.begin(), places.end(), [size](std::atomic<Kept>& place) {
    const Kept found = place.load(std::memory_order_relaxed);
    if (found == 0 || size_of(found) == size || !take_out(place, found)) return false;
    release(address_of(found), size_of(found));
    return true;
  });
}

}  // namespace

void* take_large(std::size_t bytes) {
  const std::size_t size = size_for(bytes);
  if (is_mapped(size)) taken.fetch_add(1, std::memory_order_relaxed);
  for (std::atomic<Kept>& place : places) {
    const Kept found = place.load(std::memory_order_relaxed);
    if (found != 0 && size_of(found) == size && take_out(place, found)) return address_of(found);
  }
  return allocate(size);
}

void give_large(void* memory, std::size_t bytes) noexcept {
  const std::size_t size = size_for(bytes);
  kept.fetch_add(size, std::memory_order_relaxed);
  if (is_mapped(size)) ::madvise(memory, size, MADV_FREE);
  do {
    const bool is_room = kept.load(std::memory_order_relaxed) <= large_bytes_kept;
    if (is_room && keep(as_kept(memory, size))) return;
  } while (size <= large_bytes_kept && give_back_one_of_another_size(size));
  kept.fetch_sub(size, std::memory_order_relaxed);
  release(memory, size);
}

LargeMemory large_memory() noexcept {
  return {taken.load(std::memory_order_relaxed), mapped.load(std::memory_order_relaxed),
          kept.load(std::memory_order_relaxed)};
}

}  // namespace base
