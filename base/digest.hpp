// SPDX-License-Identifier: Apache-2.0
// base/digest.hpp — short fingerprints for comparing texts and runs
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace base {

/// A 128-bit XXH3 hash. The hash detects differences but is not cryptographic.
struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  std::string text() const;  ///< 32 hexadecimal digits
  friend bool operator==(const Digest&, const Digest&) = default;
};

Digest digest_of(std::span<const std::byte> bytes);
Digest digest_of(std::string_view text);

/// Computes one digest of all bytes that add() has received so far, in the order of the calls.
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
