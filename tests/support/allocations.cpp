// SPDX-License-Identifier: Apache-2.0
// tests/support/allocations.cpp — an `operator new` that counts allocations.
#include "tests/support/allocations.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::uint64_t> count{0};
std::array<std::atomic<std::uint64_t>, 2> count_for{}, bytes_for{};
thread_local int allocates_for = -1;
}  // namespace

std::uint64_t test_support::allocations() { return count.load(); }
void test_support::allocate_for(int whose) { allocates_for = whose; }
std::uint64_t test_support::allocations_for(int whose) {
  return count_for.at(static_cast<std::size_t>(whose)).load();
}
std::uint64_t test_support::allocated_bytes_for(int whose) {
  return bytes_for.at(static_cast<std::size_t>(whose)).load();
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void* operator new(std::size_t size) {
  count.fetch_add(1, std::memory_order_relaxed);
  if (allocates_for >= 0) {
    const auto whose = static_cast<std::size_t>(allocates_for);
    count_for[whose].fetch_add(1, std::memory_order_relaxed);
    bytes_for[whose].fetch_add(size, std::memory_order_relaxed);
  }
  if (void* const block = std::malloc(size == 0 ? 1 : size)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
#endif
