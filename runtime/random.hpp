// SPDX-License-Identifier: Apache-2.0
// runtime/random.hpp — seeded random numbers that are the same on every platform
#pragma once
#include <cstdint>

namespace runtime {

/// A small random generator with eight bytes of state, so that every thread can own one. Each
/// thread makes its own: Random(seed, thread number). Their sequences are independent.
/// Paper: Steele, Lea and Flood 2014 (SplitMix64).
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0)
      : state_(mix(seed + 0x9e3779b97f4a7c15ULL * (2 * stream + 1))) {}

  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15ULL); }
  /// Returns a uniform value in 0 .. bound - 1. Requires: bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }
  /// Returns a uniform value in least .. most, both inclusive.
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most - least) + 1));
  }
  /// Returns a uniform value in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  bool chance(double probability) { return unit() < probability; }

 private:
  __extension__ using Wide = unsigned __int128;
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

}  // namespace runtime
