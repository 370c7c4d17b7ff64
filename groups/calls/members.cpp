// SPDX-License-Identifier: Apache-2.0
// groups/calls/members.cpp — sizes and copies of the members' arrays
#include "groups/calls/members.hpp"

#include <cstring>

#include "groups/calls/memory.hpp"

namespace groups {

const Call* Members::root_here() const {
  const std::uint32_t root = layout_.place(first().root);
  if (layout_.participant_at(root) != me_) return nullptr;
  return calls_[root - layout_.first_on(me_)].get();
}

std::size_t Members::in_bytes() const {
  std::size_t all = 0;
  for (const auto& call : calls_) all += call->in.size();
  return all;
}

std::size_t Members::out_bytes() const {
  std::size_t all = 0;
  for (const auto& call : calls_) all += call->out.size();
  return all;
}

std::span<std::byte> Members::made(base::Buffer& buffer, std::size_t bytes) const {
  if (!has_values()) return memory_of_nothing(bytes);
  buffer = base::Buffer(bytes);
  return buffer.bytes();
}

void Members::put(std::span<std::byte> to, std::span<const std::byte> from) const {
  if (has_values() && !from.empty() && to.data() != from.data())
    std::memmove(to.data(), from.data(), from.size());
}

}  // namespace groups
