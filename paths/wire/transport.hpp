// SPDX-License-Identifier: Apache-2.0
// paths/wire/transport.hpp — the narrow seam below which frames cross between hosts.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "paths/wire/frame.hpp"
#include "paths/wire/short_frame.hpp"

namespace paths {

/// One end of a connection between two hosts, as this host's transport numbers it; never reused.
using ConnectionId = std::uint64_t;

/// Who gets the short frames that come on one connection: found once, for all of them. One frame at
/// a time, which Transport::settle() waits for.
class ShortEnd {
 public:
  virtual ~ShortEnd() = default;
  /// As Receiver::deliver_short(). False, and nothing done with the frame, when who gets them has
  /// to be found anew.
  virtual bool deliver(ShortFrame&& frame) = 0;
};

/// Who gets what arrives. Called in no context on the services' OS thread or on that of a thread
/// that waits (or, in one process, in the sender's context), for one connection by one at a time;
/// must not block.
class Receiver {
 public:
  virtual ~Receiver() = default;
  virtual void deliver(ConnectionId connection, Frame&& frame) = 0;
  /// Only of transports that carry them.
  virtual void deliver_short(ConnectionId /*connection*/, ShortFrame&& /*frame*/) {}
  /// Null where deliver_short() has to find him each time.
  virtual std::shared_ptr<ShortEnd> short_end(ConnectionId /*connection*/) { return nullptr; }
  /// A connection that had no room has some.
  virtual void room_made(ConnectionId /*connection*/) {}
  /// Nothing more will come or go: the peer ended, was refused or cannot be reached.
  virtual void connection_lost(ConnectionId connection, const std::string& reason) = 0;
  /// Somebody, from `source`, did not get as far as a frame, or sent what is none.
  virtual void turned_away(const std::string& /*source*/, const std::string& /*reason*/) {}
};

/// Where the short frames of one connection go: found once, for all of them.
class ShortWay {
 public:
  virtual ~ShortWay() = default;
  /// As Transport::send(), in order with what that sends.
  virtual void send(const ShortFrame& frame) = 0;
  /// Whether that brings nothing to any receiver before it returns, so that the caller may hold
  /// what receivers need.
  virtual bool only_writes() const { return false; }
};

/// Carries frames of one host, in order per connection, without loss while the connection lives.
/// Adds no delay of its own: latency has one home, wrappers/emulate_link.
///
/// Why:  it moves bytes and says when no more can come. What a peer is, met or lost, alive or
///       refused, stands above it, once for all transports.
class Transport {
 public:
  virtual ~Transport() = default;
  /// Whether it can carry frames to `host`, as far as can be told before trying; of several
  /// transports of one host the first that can is asked to (paths/wire/transports.hpp).
  virtual bool reaches(std::uint32_t /*host*/) const { return true; }
  /// Begins to receive. Throws TravelError when the host's address cannot be listened on.
  virtual void start(Receiver& receiver) = 0;
  /// A connection to `host`, for one path or shared, as the plan says. Does not wait for it.
  virtual ConnectionId connect(std::uint32_t host, std::uint32_t path) = 0;
  /// Hands the frame over and returns; never blocks. Any context may call. Lost connections
  /// swallow it (the receiver was or will be told).
  virtual void send(ConnectionId connection, Frame&& frame) = 0;
  /// Whether what goes to that host is taken only as fast as it leaves, so that it is worth asking
  /// has_room(). Others keep all that they are given.
  virtual bool tells_of_room(std::uint32_t /*host*/) const { return false; }
  /// Whether what was handed over has left, so that more would not only lie here. Where it has not,
  /// the receiver is told by room_made() when it has; nobody has to wait for that.
  virtual bool has_room(ConnectionId /*connection*/) { return true; }
  /// For short frames on this connection; null where it carries none. Until stop(); what goes there
  /// when the connection is lost or dropped is swallowed.
  virtual std::shared_ptr<ShortWay> short_way(ConnectionId /*connection*/) { return nullptr; }
  /// Gives a connection up: nothing more comes or goes, and the receiver is told nothing of it. Any
  /// context may call.
  virtual void drop(ConnectionId connection) = 0;
  /// Where a connection that a peer made comes from, as far as can be told: an address, the same
  /// for all connections of one machine. Called within deliver() only.
  virtual std::string source(ConnectionId /*connection*/) { return {}; }
  /// Returns when nobody is inside a ShortEnd any more who was when it was called. Not to be called
  /// by one who is.
  virtual void settle() {}
  /// Sends what was handed over, as far as `linger` allows, and receives nothing more.
  virtual void stop() = 0;
};

}  // namespace paths
