// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/numbering.hpp — dense numbers for keys, in the order of first use.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace collectives {

/// A map from keys to numbers: a hash table with open addressing. The numbers count from 0 without
/// gaps, so that data about keys can be kept in an array.
class Numbering {
 public:
  std::uint32_t number(std::uint64_t key) {
    if (2 * keys_.size() >= places_.size()) grow();
    std::uint32_t& number = place_of(key);
    if (number == none) {
      number = static_cast<std::uint32_t>(keys_.size());
      keys_.push_back(key);
    }
    return number;
  }
  std::uint64_t key(std::uint32_t number) const { return keys_[number]; }
  std::size_t size() const { return keys_.size(); }
  /// Removes all keys. Keeps the memory for later keys.
  void clear() {
    std::fill(places_.begin(), places_.end(), none);
    keys_.clear();
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::size_t first_size = 64;
  static constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;  // 2^64 divided by the golden ratio

  std::uint32_t& place_of(std::uint64_t key) {
    const std::size_t last = places_.size() - 1;
    std::size_t at = (key * golden >> 32) & last;
    while (places_[at] != none && keys_[places_[at]] != key) at = (at + 1) & last;
    return places_[at];
  }
  void grow() {
    places_.assign(places_.empty() ? first_size : 2 * places_.size(), none);
    for (std::uint32_t number = 0; number < keys_.size(); ++number)
      place_of(keys_[number]) = number;
  }

  std::vector<std::uint64_t> keys_;  // known keys, indexed by their number
  // Hash slots: the number of a key, or `none` if the slot is free. The number of slots is a power
  // of two. At least half of the slots are free.
  std::vector<std::uint32_t> places_;
};

}  // namespace collectives
