// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/half_open.hpp — accepted connections on which no message has arrived
#pragma once
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <unordered_map>

namespace paths {

/// Limits the number of connections on which no message has arrived. If there are too many such
/// connections, closes the oldest one.
///
/// ZeroMQ owns the descriptors, and may close them at any time. HalfOpen shuts a connection down
/// only if its descriptor still has the same peer.
///
/// Why: without this limit, peers that connect and send nothing could use up the descriptors and
///      the memory of a host.
/// Thread-safe: no.
class HalfOpen {
 public:
  struct Limits {
    std::size_t of_source = 64;  ///< maximum number of connections from one address
    std::size_t all = 1024;
  };
  HalfOpen() = default;
  explicit HalfOpen(Limits limits) : limits_(limits) {}

  /// Notes a connection that was accepted. If there are now too many connections, closes the oldest
  /// connection, and returns the address of its peer. Otherwise returns "".
  std::string add(int descriptor, const std::string& source);
  /// Removes a connection because a message has arrived on it, or because it was closed.
  void remove(int descriptor);
  std::size_t size() const { return oldest_first_.size(); }

 private:
  struct One {
    int descriptor = -1;
    std::string source;
    sockaddr_storage peer{};
    socklen_t peer_bytes = 0;
  };
  using Ones = std::list<One>;
  std::string close(Ones::iterator one);

  Limits limits_;
  Ones oldest_first_;
  std::unordered_map<int, Ones::iterator> by_descriptor_;
  std::map<std::string, std::size_t> count_of_;  // number of connections, keyed by source
};

}  // namespace paths
