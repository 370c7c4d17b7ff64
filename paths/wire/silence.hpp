// SPDX-License-Identifier: Apache-2.0
// paths/wire/silence.hpp — count of looks that found a peer silent
#pragma once
#include <cstdint>
#include <utility>

namespace paths {

/// Counts how many looks in a row found a peer silent. With each look this host asks the peer
/// for a sign of life. After some looks without one the peer is lost.
///
/// Thread-safe: no; guarded by its owner's mutex.
class Silence {
 public:
  /// Notes a sign of life.
  void end() { is_received_ = true; }
  /// Looks, and returns the number of looks since the last sign of life; 1 = there was one since
  /// the last look.
  std::uint32_t look() {
    looks_ = std::exchange(is_received_, false) ? 1 : looks_ + 1;
    return looks_;
  }

 private:
  bool is_received_ = false;
  std::uint32_t looks_ = 0;
};

}  // namespace paths
