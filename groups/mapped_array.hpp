// SPDX-License-Identifier: Apache-2.0
// groups/mapped_array.hpp — array of a member that the other members can read
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace groups {

/// Array of `size()` values of one member, from Group::mapped_array(). It is a range like a vector,
/// so a call takes it, or a std::span of a part of it, as `in` or `out`. Copies of this object
/// denote the same array. The array exists until the last copy is destroyed and the operations that
/// use it have ended.
template <class T>
class MappedArray {
 public:
  MappedArray() = default;
  MappedArray(std::shared_ptr<std::byte> memory, std::uint64_t size)
      : memory_(std::move(memory)), size_(size) {}

  T* data() const { return reinterpret_cast<T*>(memory_.get()); }
  std::size_t size() const { return memory_ == nullptr ? 0 : size_; }
  T* begin() const { return data(); }
  T* end() const { return data() + size(); }
  T& operator[](std::size_t index) const { return data()[index]; }

 private:
  std::shared_ptr<std::byte> memory_;
  std::size_t size_ = 0;
};

}  // namespace groups
