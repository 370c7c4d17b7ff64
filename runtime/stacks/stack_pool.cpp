// SPDX-License-Identifier: Apache-2.0
// runtime/stacks/stack_pool.cpp — stacks in large mappings, and lists of free stacks
#include "runtime/stacks/stack_pool.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "base/units.hpp"
#include "runtime/runtime.hpp"
#include "runtime/stacks/stack_switch.hpp"

namespace runtime {
namespace {

constexpr std::size_t mapping_bytes_most = std::size_t{64} << 20;
constexpr std::size_t stacks_per_mapping_most = 64;
/// Maximum number of free stacks per size whose pages stay in memory.
constexpr std::size_t warm_stacks_most = 1024;

/// Adjacent stacks in one mapping. Either each of them has a guard below it, or none has.
struct Mapping {
  StackBounds first;
  std::size_t stacks = 0;
  std::size_t stride() const { return first.guard_bytes + first.bytes; }
};

struct Pool {
  std::mutex mutex;
  std::map<std::size_t, std::vector<StackBounds>> free;  // unused stacks, keyed by size
  std::map<const char*, Mapping> mappings;               // all mappings, keyed by their first byte
  std::size_t guarded = 0;
  std::size_t reserved_bytes = 0;
  bool is_reported = false;
};

// Never destroyed: a fiber of a static object may end after the destructors of our static objects.
Pool& pool() {
  static Pool& the_pool = *new Pool;
  return the_pool;
}

void say_unguarded(Pool& pool) {
  if (std::exchange(pool.is_reported, true)) return;
  spdlog::warn(
      "contexts beyond number {} have no guard below their stacks, because the kernel allows a "
      "process so many mappings (vm.max_map_count): a stack overflow of one is not noticed",
      pool.guarded);
}

char* map(std::size_t bytes) {
  void* mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  // Huge pages are turned off: with them, each stack would use memory for its whole address space.
  madvise(mapping, bytes, MADV_NOHUGEPAGE);
  return static_cast<char*>(mapping);
}

void carve(Pool& pool, std::size_t bytes) {
  Mapping mapping;
  mapping.first.bytes = bytes;
  if (pool.guarded < guarded_fibers_max) mapping.first.guard_bytes = guard_bytes_for(bytes);
  mapping.stacks =
      std::clamp<std::size_t>(mapping_bytes_most / mapping.stride(), 1, stacks_per_mapping_most);
  if (mapping.first.guard_bytes > 0)
    mapping.stacks = std::min(mapping.stacks, guarded_fibers_max - pool.guarded);
  char* begin = map(mapping.stacks * mapping.stride());
  if (begin == nullptr && mapping.stacks > 1) {
    mapping.stacks = 1;
    begin = map(mapping.stride());
  }
  if (begin == nullptr)
    throw std::runtime_error(
        fmt::format("cannot allocate a stack of {}: {}; stacks have reserved {} of address space; "
                    "see ulimit -v, vm.overcommit_memory and vm.max_map_count",
                    base::format_bytes(bytes), std::generic_category().message(errno),
                    base::format_bytes(pool.reserved_bytes)));
  pool.reserved_bytes += mapping.stacks * mapping.stride();
  mapping.first.bottom = begin + mapping.first.guard_bytes;
  auto& free = pool.free[bytes];
  for (std::size_t i = mapping.stacks; i-- > 0;) {
    StackBounds stack = mapping.first;
    stack.bottom += i * mapping.stride();
    char* const guard = begin + i * mapping.stride();
    if (stack.guard_bytes > 0 && mprotect(guard, stack.guard_bytes, PROT_NONE) == 0)
      ++pool.guarded;
    else
      stack.guard_bytes = 0;
    if (stack.guard_bytes == 0) say_unguarded(pool);
    free.push_back(stack);
  }
  pool.mappings[begin] = mapping;
}

}  // namespace

StackBounds StackPool::allocate(std::size_t bytes) {
  std::lock_guard lock(pool().mutex);
  auto& free = pool().free[bytes];
  if (free.empty()) carve(pool(), bytes);
  const StackBounds stack = free.back();
  free.pop_back();
  return stack;
}

void StackPool::deallocate(const StackBounds& stack) {
  std::lock_guard lock(pool().mutex);
  auto& free = pool().free[stack.bytes];
  // Frees the pages of the stack only if many stacks are free, because the next fiber on this stack
  // touches pages again. Every fiber does so at its end: Boost.Fiber's locking touches 5 KiB of the
  // stack, more than many fibers touch before.
  if (free.size() >= warm_stacks_most)
    madvise(const_cast<char*>(stack.bottom), stack.bytes, MADV_DONTNEED);
  free.push_back(stack);
}

StackBounds StackPool::containing(const void* address) {
  const char* byte = static_cast<const char*>(address);
  std::lock_guard lock(pool().mutex);
  auto found = pool().mappings.upper_bound(byte);
  if (found == pool().mappings.begin()) return {};
  --found;
  const Mapping& mapping = found->second;
  const std::size_t index = static_cast<std::size_t>(byte - found->first) / mapping.stride();
  if (index >= mapping.stacks) return {};
  StackBounds stack = mapping.first;
  stack.bottom += index * mapping.stride();
  return stack;
}

boost::context::stack_context GivenStack::allocate() {
  boost::context::stack_context stack;
  stack.size = stack_.bytes;
  stack.sp = const_cast<char*>(stack_.bottom) + stack_.bytes;
  return stack;
}

void GivenStack::deallocate(boost::context::stack_context&) {
  StackSwitch::forget(stack_);
  StackPool::deallocate(stack_);
}

}  // namespace runtime
