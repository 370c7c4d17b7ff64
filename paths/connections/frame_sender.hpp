// SPDX-License-Identifier: Apache-2.0
// paths/connections/frame_sender.hpp — sending of frames under flow control by credits
#pragma once
#include <cstdint>
#include <string>

#include "paths/connections/connection_table.hpp"
#include "paths/connections/send_queue.hpp"
#include "paths/connections/sent_traffic.hpp"

namespace paths {

/// Sends the frames of a host: requests, pushes, replies and all other frames. Credits limit the
/// pushes under way.
///
/// Each request and each push uses one credit. If a connection has no credits, a push is held: it
/// waits in a list. Held frames leave in order. A newer push of the same path may replace a held
/// push.
///
/// Thread-safe: push(), reply(), end_push(), note_failure() and failure(). All other functions
///              require the mutex of the table.
class FrameSender {
 public:
  /// Requires: the arguments outlive this object.
  FrameSender(ConnectionTable& table, SendQueue& queue, SentTraffic& traffic)
      : table_(table), queue_(queue), traffic_(traffic) {}

  void push(std::uint32_t to_host, StageId stage, Operation operation);
  void reply(ConnectionId connection, Frame&& frame);
  /// Replies to a standing call with the short frame `frame`. `path` is the path of the call.
  void reply(ConnectionId connection, std::uint32_t path, ShortFrame&& frame);
  /// Notes that a received push has been carried out, so that its credit can return to the peer.
  void end_push(ConnectionId connection);
  /// Notes a failure, which the goodbyes of this host will report to the peers. Only the first
  /// failure is kept, whether this host noted it or a peer reported it.
  void note_failure(const std::string& failure);
  std::string failure() const;

  /// Returns the connection to `host` for operations that enter `stage` there. If there is no such
  /// connection, makes it and posts this host's hello on it.
  Connection& connection_to(std::uint32_t host, StageId stage);
  /// Notes a failure that a peer reported.
  void receive_failure(const Connection& connection, const std::string& text);
  void post(Connection& connection, Frame&& frame);
  /// Posts a frame that has no fields except its kind.
  void post(Connection& connection, FrameKind kind) { post(connection, table_.frame_of(kind)); }
  void post_goodbye(Connection& connection);
  static bool may_leave(const Connection& connection, const Frame& frame);
  /// Posts a request or a push. Uses one credit, unless it is a farewell (is_farewell()).
  void leave(Connection& connection, Frame&& frame);
  /// Posts the held frames that may leave now. If this host's goodbye waits for the held frames and
  /// none is left, also posts the goodbye.
  void post_held(Connection& connection, runtime::DeferredWakes& wakes);
  /// Posts the held frames that may leave after the peer's welcome.
  void post_first(Connection& connection, runtime::DeferredWakes& wakes);
  void take_credits(Connection& connection, std::uint32_t credits, runtime::DeferredWakes& wakes);
  /// Counts a short frame and sends it. May unlock `lock` and lock it again.
  void send(Connection& connection, std::uint32_t path, ShortFrame&& frame, runtime::Lock& lock);

 private:
  Connection* find_open(ConnectionId id);
  void leave_at_last(Connection& connection, Frame&& frame, runtime::DeferredWakes& wakes);
  void count(const Connection& connection, std::uint32_t path, const Traffic& sent);

  ConnectionTable& table_;
  SendQueue& queue_;
  SentTraffic& traffic_;
  std::string failure_;
};

}  // namespace paths
