// SPDX-License-Identifier: Apache-2.0
// paths/connections/credit_window.hpp — credits bound what may be under way on a connection.
#pragma once
#include <cstdint>
#include <utility>

namespace paths {

/// Credits of one connection. Each request and push that leaves uses one. The peer returns it with
/// its next frame, or in a frame of its own when half of all credits would be on their way back.
///
/// Sharing: guarded by the mutex of the connection's table.
class CreditWindow {
 public:
  static constexpr std::uint32_t size = 256;  ///< credits that a connection begins with

  bool has_credits() const { return left_ > 0; }
  std::int64_t used() const { return size - left_; }
  /// Requests use credits that are not there, because they do not wait for any.
  void use() { --left_; }
  void take_back(std::uint32_t credits) { left_ += credits; }

  /// Notes that a frame of the peer has been served. Its credit is to go back.
  void owe() { ++owed_; }
  bool owes_half() const { return owed_ >= size / 2; }
  /// Returns what the next frame to the peer gives back.
  std::uint32_t give_back() { return std::exchange(owed_, 0); }

 private:
  std::int64_t left_ = size;
  std::uint32_t owed_ = 0;
};

}  // namespace paths
