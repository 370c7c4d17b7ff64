// SPDX-License-Identifier: Apache-2.0
// paths/wire/transport.hpp — interface that carries frames between hosts
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "paths/wire/frame.hpp"
#include "paths/wire/short_frame.hpp"

namespace paths {

/// One end of a connection between two hosts. The host's transport numbers it and never reuses a
/// number.
using ConnectionId = std::uint64_t;

/// Receiver of the short frames of one connection, looked up once for all of them. Handles one
/// frame at a time; Transport::settle() waits for it.
class ShortEnd {
 public:
  virtual ~ShortEnd() = default;
  /// As Receiver::deliver_short(). Returns false, with the frame untouched, if the receiver must be
  /// looked up again.
  virtual bool deliver(ShortFrame&& frame) = 0;
};

/// Receives everything that arrives for one host.
///
/// Thread-safe: calls for one connection never overlap.
/// Blocks:      must not block.
/// Context:     no context, on the services' OS thread or the OS thread of a waiter. In one
///              process: the sender's context.
class Receiver {
 public:
  virtual ~Receiver() = default;
  virtual void deliver(ConnectionId connection, Frame&& frame) = 0;
  /// Called only by transports that carry short frames.
  virtual void deliver_short(ConnectionId /*connection*/, ShortFrame&& /*frame*/) {}
  /// Returns nullptr if deliver_short() must look up the receiver each time.
  virtual std::shared_ptr<ShortEnd> short_end(ConnectionId /*connection*/) { return nullptr; }
  /// Reports room on a connection that had none.
  virtual void room_made(ConnectionId /*connection*/) {}
  /// Reports that nothing more arrives or leaves: the peer ended, was refused or cannot be reached.
  virtual void connection_lost(ConnectionId connection, const std::string& reason) = 0;
  /// Reports a peer at `source` that was rejected before its first frame, or sent invalid bytes.
  virtual void turned_away(const std::string& /*source*/, const std::string& /*reason*/) {}
};

/// Route for the short frames of one connection, looked up once for all of them.
class ShortWay {
 public:
  virtual ~ShortWay() = default;
  /// As Transport::send(), in one order with its frames.
  virtual void send(const ShortFrame& frame) = 0;
  /// Whether send() calls no receiver before it returns. Then the caller may hold locks that
  /// receivers need.
  virtual bool only_writes() const { return false; }
};

/// Carries frames of one host, in order per connection, without loss while the connection lives.
/// Adds no delay of its own: only wrappers/emulate_link adds latency.
///
/// Why: It moves bytes and reports when no more can arrive. Code above it decides, once for all
/// transports, whether a peer is met, alive, lost or refused.
class Transport {
 public:
  virtual ~Transport() = default;
  /// Whether it can carry frames to `host`, as far as is known before trying. Among several
  /// transports, the first that can is used (paths/wire/transports.hpp).
  virtual bool reaches(std::uint32_t /*host*/) const { return true; }
  /// Begins to receive. Throws TravelError if the host cannot listen on its address.
  virtual void start(Receiver& receiver) = 0;
  /// Opens a connection to `host`, for one path or shared, as the plan requires. Does not wait for
  /// it.
  virtual ConnectionId connect(std::uint32_t host, std::uint32_t path) = 0;
  /// Hands the frame over and returns; never blocks. Any context may call it. Discards the frame if
  /// the connection is lost; the receiver gets connection_lost() for that.
  virtual void send(ConnectionId connection, Frame&& frame) = 0;
  /// Whether frames to `host` are accepted only as fast as they leave, so that has_room() is
  /// useful. Other transports queue everything.
  virtual bool reports_room(std::uint32_t /*host*/) const { return false; }
  /// Whether everything that was handed over has left, so that more would not just queue. If it
  /// returns false, the receiver gets room_made() later; the caller need not wait for that.
  virtual bool has_room(ConnectionId /*connection*/) { return true; }
  /// Returns the route for short frames on this connection, valid until stop(); nullptr if there is
  /// none. Frames on a lost or dropped connection are discarded.
  virtual std::shared_ptr<ShortWay> short_way(ConnectionId /*connection*/) { return nullptr; }
  /// Closes a connection: nothing more arrives or leaves, and the receiver is not notified. Any
  /// context may call it.
  virtual void drop(ConnectionId connection) = 0;
  /// Returns the address of the peer that made this connection, as far as it is known. All
  /// connections of one machine have the same.
  /// Requires: called within deliver().
  virtual std::string source(ConnectionId /*connection*/) { return {}; }
  /// Blocks until all calls that were inside a ShortEnd have returned.
  /// Requires: the caller is not inside a ShortEnd.
  virtual void settle() {}
  /// Sends what was handed over, as far as `linger` allows. Afterwards receives nothing more.
  virtual void stop() = 0;
};

}  // namespace paths
