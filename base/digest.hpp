// SPDX-License-Identifier: Apache-2.0
// base/digest.hpp — short fingerprints, to tell whether two texts or runs are the same.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace base {

/// 128 bits of XXH3: tells different apart, protects against nobody.
struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  std::string text() const;  ///< 32 hexadecimal digits
  friend bool operator==(const Digest&, const Digest&) = default;
};

Digest digest_of(std::span<const std::byte> bytes);
Digest digest_of(std::string_view text);

/// A digest of everything added so far, in the order it was added.
class RunningDigest {
 public:
  RunningDigest();
  ~RunningDigest();
  RunningDigest(const RunningDigest&) = delete;
  RunningDigest& operator=(const RunningDigest&) = delete;
  void add(std::span<const std::byte> bytes);
  Digest value() const;

 private:
  void* state_;
};

}  // namespace base
