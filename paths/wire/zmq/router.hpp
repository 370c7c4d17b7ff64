// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/router.hpp — the socket to which peers connect, and their connections
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>
#include <zmq.hpp>

#include "paths/wire/source_filter.hpp"
#include "paths/wire/transport.hpp"
#include "paths/wire/zmq/codec.hpp"
#include "paths/wire/zmq/descriptors.hpp"
#include "paths/wire/zmq/half_open.hpp"

namespace paths {

/// State of one connection and of the peer at its other end.
struct SocketPeer {
  ConnectionId id = 0;
  bool lost = false;
  std::size_t part_bytes = body_part_bytes;  ///< size of the parts of bodies sent to the peer
  FrameAssembly frames;                      ///< frames that arrive from the peer
};

/// Identifies a connection that a peer has made. The first value is its descriptor. The second
/// value is the number of connections that have had this descriptor, including this connection.
using Acceptance = std::pair<int, std::uint64_t>;

/// A connection that a peer has made. ZeroMQ identifies the frames of a connection by a routing id,
/// but reports its loss with a descriptor. `acceptance` distinguishes connections with the same
/// descriptor, because descriptors are used again.
struct Incoming : SocketPeer {
  std::string routing_id;
  Acceptance acceptance;
  std::string source;
  std::string key_owner;  ///< host that has the peer's key; "" = the key names no host
  bool has_greeted = false;
};

/// The socket to which peers connect, and the connections that they have made.
///
/// Thread-safe: no.
class Router {
 public:
  /// Each new connection gets the id `next_connection`, which it increments.
  /// Requires: both arguments outlive this object.
  Router(Descriptors& descriptors, std::atomic<ConnectionId>& next_connection)
      : descriptors_(descriptors), next_connection_(next_connection) {}

  zmq::socket_t socket;
  zmq::socket_t monitor;
  /// Size of the body parts that the socket sends.
  std::size_t part_bytes = body_part_bytes;

  void limit(HalfOpen::Limits limits) { half_open_ = HalfOpen(limits); }
  /// Makes the socket refuse connections from addresses that `filter` does not accept.
  void filter(SourceFilter filter) { filter_ = std::move(filter); }
  /// Returns the connection with this id; nullptr if there is none.
  Incoming* find(ConnectionId connection);
  const Incoming* find(ConnectionId connection) const;
  /// Returns the connection of a message, given its routing id and header. Returns nullptr, and
  /// tells the receiver, if the message does not name its connection.
  Incoming* connection_of(const zmq::message_t& routing_id, zmq::message_t& header,
                          Receiver& receiver);
  /// Reads the events that ZeroMQ has reported. Tells the receiver which peers were turned away.
  void read_events(Receiver& receiver);
  /// Forgets the connections that have closed. Calls `lose` for each of them first.
  /// Requires: the socket has no more messages, so that all frames of a peer are delivered before
  ///           its loss is reported.
  void forget_closed(const std::function<void(Incoming&)>& lose);

 private:
  /// The latest connection with a descriptor, and the number of connections that have had this
  /// descriptor.
  struct Accepted {
    std::uint64_t count = 0;
    std::string source;
  };

  Descriptors& descriptors_;
  std::atomic<ConnectionId>& next_connection_;
  std::unordered_map<std::string, Incoming> peers_;     // keyed by routing id
  std::unordered_map<ConnectionId, Incoming*> by_id_;   // points into peers_
  std::multimap<Acceptance, std::string> accepted_as_;  // values are routing ids
  std::unordered_map<int, Accepted> accepted_;          // keyed by descriptor
  SourceFilter filter_;
  HalfOpen half_open_;
  std::vector<Acceptance> closings_;  // closed connections whose loss has not been reported yet
  // Reason why the handshake failed on the connection whose end ZeroMQ reports next; "" if the
  // handshake did not fail.
  std::string handshake_failure_;
  int accept_failed_ = 0;  // errno of accept() that was logged last; 0 = none
};

}  // namespace paths
