// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/descriptors.hpp — descriptors of connections, and what the kernel knows about them
#pragma once
#include <unordered_map>

#include "paths/wire/signs_of_life.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Descriptors of the open connections of ZeroMQ. ZeroMQ owns the descriptors.
///
/// Thread-safe: yes.
class Descriptors {
 public:
  void note(ConnectionId connection, int descriptor);
  void forget(ConnectionId connection);
  /// Returns what the kernel knows about a connection. ZeroMQ may close the descriptor of the
  /// connection at any time. After this, and until the loss of the connection is reported, the
  /// result may be empty, or may describe a different connection.
  PeerContact contact(ConnectionId connection) const;

 private:
  mutable runtime::Mutex mutex_;
  std::unordered_map<ConnectionId, int> descriptors_;
};

}  // namespace paths
