// SPDX-License-Identifier: Apache-2.0
// eventspace/buffer.cpp — a ring whose writers share nothing but a counter.
#include "eventspace/buffer.hpp"

#include <algorithm>
#include <bit>

#include "base/errors.hpp"

namespace eventspace {

Buffer::Buffer(std::size_t capacity) : ring_(capacity) {}

void Buffer::reserve(std::size_t capacity) {
  ENSURE_EQ(added(), 0u);
  ring_.resize(capacity);
}

void Buffer::add(const EventRecord& record) {
  if (ring_.empty()) return;
  const std::uint64_t place = added_.fetch_add(1, std::memory_order_relaxed) % ring_.size();
  // Word by word, because a writer that slept for a whole round of the ring meets another one.
  const Words words = std::bit_cast<Words>(record);
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::atomic_ref(ring_[place][i]).store(words[i], std::memory_order_relaxed);
  }
}

std::uint64_t Buffer::added() const { return added_.load(std::memory_order_relaxed); }

std::uint64_t Buffer::dropped() const {
  const std::uint64_t count = added();
  return count > ring_.size() ? count - ring_.size() : 0;
}

std::vector<EventRecord> Buffer::snapshot() const {
  std::vector<EventRecord> records;
  records.reserve(std::min<std::uint64_t>(added(), ring_.size()));
  for (std::uint64_t number = dropped(); number < added(); ++number) {
    records.push_back(std::bit_cast<EventRecord>(ring_[number % ring_.size()]));
  }
  return records;
}

}  // namespace eventspace
