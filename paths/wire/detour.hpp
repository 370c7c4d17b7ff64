// SPDX-License-Identifier: Apache-2.0
// paths/wire/detour.hpp — connections of one transport that another transport carries
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "paths/wire/transport.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Sends the frames of one transport's connections by a second transport. The first transport needs
/// a Detour if it finds out only after connect() that it cannot carry a connection. The receiver
/// still identifies the connection by its original number.
///
/// Thread-safe: yes.
class Detour {
 public:
  /// Requires: `by` outlives all calls of this object except original().
  explicit Detour(Transport& by) : by_(by) {}

  /// Opens a connection of the second transport for the frames of the connection `original`.
  ConnectionId connect(ConnectionId original, std::uint32_t host) {
    const ConnectionId made = by_.connect(host);
    const runtime::Lock lock(mutex_);
    originals_.emplace(made, original);
    is_used_ = true;
    return made;
  }
  void send(ConnectionId connection, Frame&& frame) { by_.send(connection, std::move(frame)); }
  void drop(ConnectionId connection) { by_.drop(connection); }

  /// Returns the original number of a connection of the second transport; nullopt if connect() did
  /// not open this connection.
  std::optional<ConnectionId> original(ConnectionId connection) const {
    if (!is_used_) return std::nullopt;
    const runtime::Lock lock(mutex_);
    const auto found = originals_.find(connection);
    return found == originals_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  Transport& by_;
  std::atomic<bool> is_used_{false};
  mutable runtime::Mutex mutex_;
  std::unordered_map<ConnectionId, ConnectionId> originals_;
};

}  // namespace paths
