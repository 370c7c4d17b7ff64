// SPDX-License-Identifier: Apache-2.0
// paths/wire/silence.hpp — count of checks that found a peer silent
#pragma once
#include <cstdint>
#include <utility>

namespace paths {

/// Counts the checks in a row that found a peer silent. The owner of this object asks the peer for
/// a sign of life at each check, and declares it lost after a certain number of silent checks.
///
/// Thread-safe: no; guarded by its owner's mutex.
class Silence {
 public:
  /// Notes that the peer has given a sign of life.
  void end() { is_received_ = true; }
  /// Checks the peer. Returns the number of checks since the last sign of life; 1 = the peer gave a
  /// sign of life since the last check.
  std::uint32_t look() {
    looks_ = std::exchange(is_received_, false) ? 1 : looks_ + 1;
    return looks_;
  }

 private:
  bool is_received_ = false;
  std::uint32_t looks_ = 0;
};

}  // namespace paths
