// SPDX-License-Identifier: Apache-2.0
// runtime/stack_pool.cpp — carves stacks out of large mappings and keeps the free ones.
#include "runtime/stack_pool.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace runtime {
namespace {

constexpr std::size_t guarded_max = 8192;
constexpr std::size_t stacks_per_mapping = 64;

struct Pool {
  std::mutex mutex;
  std::map<std::size_t, std::vector<char*>> free;  // by size
  std::map<const char*, std::size_t> mappings;     // first byte, bytes per stack
  std::size_t carved = 0;
};

// Never destroyed: a fiber of a static object may end later than any destructor of ours.
Pool& pool() {
  static Pool& the_pool = *new Pool;
  return the_pool;
}

void carve(Pool& pool, std::size_t bytes) {
  void* mapping = mmap(nullptr, bytes * stacks_per_mapping, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  // A huge page would make every stack cost all of its address space.
  madvise(mapping, bytes * stacks_per_mapping, MADV_NOHUGEPAGE);
  pool.mappings[static_cast<const char*>(mapping)] = bytes;
  auto& free = pool.free[bytes];
  for (std::size_t i = stacks_per_mapping; i-- > 0;) {
    char* bottom = static_cast<char*>(mapping) + i * bytes;
    if (pool.carved++ < guarded_max)
      mprotect(bottom, static_cast<std::size_t>(getpagesize()), PROT_NONE);
    free.push_back(bottom);
  }
}

}  // namespace

boost::context::stack_context StackPool::allocate() {
  std::lock_guard lock(pool().mutex);
  auto& free = pool().free[bytes_];
  if (free.empty()) carve(pool(), bytes_);
  boost::context::stack_context stack;
  stack.size = bytes_;
  stack.sp = free.back() + bytes_;
  free.pop_back();
  return stack;
}

void StackPool::deallocate(boost::context::stack_context& stack) {
  std::lock_guard lock(pool().mutex);
  pool().free[stack.size].push_back(static_cast<char*>(stack.sp) - stack.size);
}

StackPool::Stack StackPool::containing(const void* address) {
  const char* byte = static_cast<const char*>(address);
  std::lock_guard lock(pool().mutex);
  auto mapping = pool().mappings.upper_bound(byte);
  if (mapping == pool().mappings.begin()) return {};
  --mapping;
  const std::size_t offset = static_cast<std::size_t>(byte - mapping->first);
  if (offset >= mapping->second * stacks_per_mapping) return {};
  return {mapping->first + offset / mapping->second * mapping->second, mapping->second};
}

}  // namespace runtime
