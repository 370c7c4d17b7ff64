// SPDX-License-Identifier: Apache-2.0
// paths/connections/credit_window.hpp — credits that bound the requests and pushes under way
#pragma once
#include <cstdint>
#include <utility>

namespace paths {

/// Credits of one connection. They limit the number of requests and pushes under way, so that a
/// fast sender cannot fill the memory of a slow peer.
///
/// Each request and each push uses one credit when it is sent. The receiver returns the credits
/// with its next frame. When it owes half of all credits, it returns them immediately, in a frame
/// of the kind `credits`.
///
/// Thread-safe: guarded by the mutex of the connection's table.
class CreditWindow {
 public:
  static constexpr std::uint32_t size = 256;  ///< initial credits of a connection

  bool has_credits() const { return left_ > 0; }
  std::int64_t used() const { return size - left_; }
  /// Uses one credit. Requests do not wait for credits, so the balance may become negative.
  void use() { --left_; }
  void take_back(std::uint32_t credits) { left_ += credits; }

  /// Notes that this host must return one credit, because it has processed a frame of the peer.
  void owe() { ++owed_; }
  bool owes_half() const { return owed_ >= size / 2; }
  /// Returns the number of credits to return with the next frame to the peer.
  std::uint32_t give_back() { return std::exchange(owed_, 0); }

 private:
  std::int64_t left_ = size;
  std::uint32_t owed_ = 0;
};

}  // namespace paths
