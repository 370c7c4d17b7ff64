// SPDX-License-Identifier: Apache-2.0
// paths/wire/transport.hpp — interface that carries frames between hosts
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "paths/wire/frame.hpp"
#include "paths/wire/short_frame.hpp"
#include "paths/wire/signs_of_life.hpp"

namespace paths {

/// Number by which one host identifies a connection to another host. The transport of the host
/// assigns the number and never reuses it.
using ConnectionId = std::uint64_t;

/// Reason of a loss, if the peer has closed the connection or has died.
inline constexpr const char* process_ended = "its process has ended";

/// Receives the short frames of one connection. A transport gets this object from
/// Receiver::short_end(), and keeps the object until deliver() returns false. Calls of deliver()
/// must not overlap. Transport::settle() waits until no call is inside deliver().
class ShortEnd {
 public:
  virtual ~ShortEnd() = default;
  /// Handles a frame, like Receiver::deliver_short(). If this object is no longer valid, returns
  /// false and leaves the frame unchanged. The caller must then call Receiver::deliver_short().
  virtual bool deliver(ShortFrame&& frame) = 0;
};

/// Maximum size in bytes of a body that a peer may announce. A receiver may set a smaller maximum.
inline constexpr std::uint64_t body_bytes_limit = std::uint64_t{1} << 40;
/// Maximum size in bytes of a body for which a transport allocates memory without a call of
/// Receiver::body_bytes_max().
inline constexpr std::uint64_t unasked_body_bytes = std::uint64_t{1} << 20;

/// Receives everything that arrives for one host.
///
/// Thread-safe: not for calls for the same connection, because the transport never makes two such
///              calls at the same time.
/// Blocks:      no function may block.
/// Context:     the caller is an OS thread that polls while it waits, or the services' thread: the
///              OS thread whose fibers do work for other hosts. The services' thread calls outside
///              of these fibers. Between hosts of one process, the sender's OS thread or fiber
///              calls.
class Receiver {
 public:
  virtual ~Receiver() = default;
  virtual void deliver(ConnectionId connection, Frame&& frame) = 0;
  /// Returns the maximum size of the body that may follow a header. `head` is the frame without its
  /// body. Transports call this function before they allocate memory for a body of more than
  /// unasked_body_bytes. If the peer announces a larger body than the maximum, the connection is
  /// lost.
  virtual std::uint64_t body_bytes_max(ConnectionId /*connection*/, const Frame& /*head*/) {
    return body_bytes_limit;
  }
  /// Receives a short frame. Only transports that carry short frames call this function.
  virtual void deliver_short(ConnectionId /*connection*/, ShortFrame&& /*frame*/) {}
  /// Returns the receiver of a connection's short frames; nullptr if the transport must call
  /// deliver_short() for each short frame.
  virtual std::shared_ptr<ShortEnd> short_end(ConnectionId /*connection*/) { return nullptr; }
  /// Reports that Transport::has_room() of the connection is true again.
  virtual void room_made(ConnectionId /*connection*/) {}
  /// Reports that nothing more arrives or leaves on the connection, because the peer ended, was
  /// refused or cannot be reached.
  virtual void connection_lost(ConnectionId connection, const std::string& reason) = 0;
  /// Reports a peer that was rejected before its first frame, or that sent invalid bytes. `source`
  /// is the address of the peer.
  virtual void turned_away(const std::string& /*source*/, const std::string& /*reason*/) {}
};

/// Sends the short frames of one connection. A sender gets this object from Transport::short_way(),
/// once for each connection.
class ShortWay {
 public:
  virtual ~ShortWay() = default;
  /// Sends a short frame, like Transport::send(). Normal and short frames of a connection arrive in
  /// the order in which they were sent.
  virtual void send(const ShortFrame& frame) = 0;
  /// Returns whether send() never calls a receiver. If true, the caller of send() may hold locks
  /// that receivers need.
  virtual bool only_writes() const { return false; }
};

/// Carries the frames of one host. Frames of one connection arrive in order and without loss while
/// the connection lives. A transport adds no delay of its own; other code delays frames on emulated
/// links (wrappers/emulate_link, paths/links).
///
/// A transport only carries bytes, and reports when no more bytes can arrive. The user of the
/// transport decides whether a peer has arrived, is alive, is lost or is refused.
/// Why: all transports share the code for these decisions.
class Transport {
 public:
  virtual ~Transport() = default;
  /// Returns whether this transport can probably carry frames to `host`. Makes no attempt to reach
  /// `host`. If this host has several transports, it uses the first transport that returns true
  /// (paths/wire/transports.hpp).
  virtual bool reaches(std::uint32_t /*host*/) const { return true; }
  /// Starts receiving.
  /// Throws: TravelError if the host cannot listen on its address.
  virtual void start(Receiver& receiver) = 0;
  /// Opens a connection to `host`. Does not wait until the connection is open.
  virtual ConnectionId connect(std::uint32_t host) = 0;
  /// Passes the frame to the transport. Never blocks. If the connection is lost, discards the
  /// frame. The transport calls Receiver::connection_lost() for each lost connection. Thread-safe.
  virtual void send(ConnectionId connection, Frame&& frame) = 0;
  /// Returns whether has_room() is meaningful for connections to `host`. If not, the transport
  /// queues all frames.
  virtual bool reports_room(std::uint32_t /*host*/) const { return false; }
  /// Returns whether all accepted frames have left, so that a further frame would not wait in a
  /// queue. If the result is false, the transport calls Receiver::room_made() later. The caller may
  /// send frames before this call.
  virtual bool has_room(ConnectionId /*connection*/) { return true; }
  /// Returns an object that sends short frames on this connection; nullptr if the transport carries
  /// no short frames. The object is valid until stop(). After the connection was lost or dropped,
  /// the object discards frames.
  virtual std::shared_ptr<ShortWay> short_way(ConnectionId /*connection*/) { return nullptr; }
  /// Closes a connection. Nothing more arrives or leaves, and the receiver is not notified.
  /// Thread-safe.
  virtual void drop(ConnectionId connection) = 0;
  /// Returns the address of the peer that made this connection; "" if the address is not known. The
  /// address has no port, so it is the same for all connections from one machine.
  /// Requires: called within deliver().
  virtual std::string source(ConnectionId /*connection*/) { return {}; }
  /// Returns what the operating system knows about the peer of a connection, for the text about a
  /// silent peer. Any context may call contact().
  virtual PeerContact contact(ConnectionId /*connection*/) { return {}; }
  /// Blocks until all calls that were inside a ShortEnd have returned.
  /// Requires: the caller is not inside a ShortEnd.
  virtual void settle() {}
  /// Sends the accepted frames, which may take at most 500 ms. Then stops receiving.
  virtual void stop() = 0;
};

}  // namespace paths
