// SPDX-License-Identifier: Apache-2.0
// eventspace/buffer.hpp — a host's records in memory, the newest when there are too many.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "eventspace/record.hpp"

namespace eventspace {

/// A ring of records that many contexts fill without locks.
///
/// Sharing: add() from any context at once, never blocks; snapshot() only while nobody adds.
class Buffer {
 public:
  explicit Buffer(std::size_t capacity = 0);  ///< 0: collects nothing until reserve()
  void reserve(std::size_t capacity);         ///< before the first add()
  void add(const EventRecord& record);
  std::uint64_t added() const;
  std::uint64_t dropped() const;              ///< the oldest, overwritten by newer ones
  std::vector<EventRecord> snapshot() const;  ///< oldest first

 private:
  using Words = std::array<std::uint32_t, sizeof(EventRecord) / sizeof(std::uint32_t)>;
  std::vector<Words> ring_;
  std::atomic<std::uint64_t> added_{0};
};

}  // namespace eventspace
