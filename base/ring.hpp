// SPDX-License-Identifier: Apache-2.0
// base/ring.hpp — a queue that allocates only when it grows
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

namespace base {

/// A first-in, first-out queue. Unlike a std::deque, a Ring that stays short soon stops allocating
/// memory, even if very many elements pass through. The memory of a Ring that grew beyond 64
/// elements is freed when the Ring is empty.
template <class T>
class Ring {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Returns the element at index `place`; the oldest has index 0.
  T& operator[](std::size_t place) { return places_[(first_ + place) & (places_.size() - 1)]; }
  const T& operator[](std::size_t place) const {
    return places_[(first_ + place) & (places_.size() - 1)];
  }
  T& front() { return (*this)[0]; }

  void push_back(T value) {
    if (size_ == places_.size()) grow();
    ++size_;
    (*this)[size_ - 1] = std::move(value);
  }
  T take_front() {
    T oldest = std::exchange(front(), T());
    first_ = (first_ + 1) & (places_.size() - 1);
    if (--size_ == 0 && places_.size() > kept_places) *this = Ring();
    return oldest;
  }

 private:
  static constexpr std::size_t kept_places = 64;
  void grow() {
    std::vector<T> more(places_.empty() ? 2 : 2 * places_.size());
    for (std::size_t place = 0; place < size_; ++place) more[place] = std::move((*this)[place]);
    places_.swap(more);
    first_ = 0;
  }
  std::vector<T> places_;  // size of the vector: 0 or a power of two
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace base
