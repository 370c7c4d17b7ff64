// SPDX-License-Identifier: Apache-2.0
// paths/connections/frame_sender.hpp — when frames may leave, and the credits that bound pushes.
#pragma once
#include <cstdint>
#include <string>

#include "paths/connections/connection_table.hpp"
#include "paths/connections/send_queue.hpp"
#include "paths/connections/sent_traffic.hpp"

namespace paths {

/// Sends pushes and replies, and posts all other frames of a host.
///
/// Credits: each request and push uses one. A push that finds none left is held, and leaves in the
///          order in which it came. A newer push of the same path replaces one that is held.
/// Sharing: any context may call push(), reply(), end_push(), note_failure() and failure(). All
///          other functions require the mutex of the table.
class FrameSender {
 public:
  /// All outlive this object.
  FrameSender(ConnectionTable& table, SendQueue& queue, SentTraffic& traffic)
      : table_(table), queue_(queue), traffic_(traffic) {}

  void push(std::uint32_t to_host, StageId stage, Operation operation);
  void reply(ConnectionId connection, Frame&& frame);
  /// Replies to a standing call of that path.
  void reply(ConnectionId connection, std::uint32_t path, ShortFrame&& frame);
  /// A push that came in has been carried out: its credit goes back.
  void end_push(ConnectionId connection);
  /// Notes what failed. Our goodbyes tell the peers. The first failure counts, whether it was noted
  /// here or came from a peer.
  void note_failure(const std::string& failure);
  std::string failure() const;

  /// Returns the connection to `host` for `stage`. A new one begins with our hello.
  Connection& connection_to(std::uint32_t host, StageId stage);
  /// Notes a failure that a peer reports.
  void hear_failure(const Connection& connection, const std::string& text);
  void post(Connection& connection, Frame&& frame);
  /// Posts a frame that has nothing to say but its kind.
  void post(Connection& connection, FrameKind kind) { post(connection, table_.frame_of(kind)); }
  void post_goodbye(Connection& connection);
  static bool may_leave(const Connection& connection, const Frame& frame);
  /// Posts a request or a push, which uses a credit.
  void leave(Connection& connection, Frame&& frame);
  /// Posts what is held and may leave now, and then our goodbye, if that waited for it.
  void post_held(Connection& connection, runtime::DeferredWakes& wakes);
  /// The same for what waited for the welcome of the peer.
  void post_first(Connection& connection, runtime::DeferredWakes& wakes);
  void take_credits(Connection& connection, std::uint32_t credits, runtime::DeferredWakes& wakes);
  /// Counts a short frame and sends it. Releases `lock` meanwhile.
  void send(const Connection& connection, std::uint32_t path, ShortFrame&& frame,
            runtime::Lock& lock);

 private:
  Connection* find_open(ConnectionId id);
  void leave_at_last(Connection& connection, Frame&& frame, runtime::DeferredWakes& wakes);
  void count(const Connection& connection, std::uint32_t graph, const Traffic& sent);

  ConnectionTable& table_;
  SendQueue& queue_;
  SentTraffic& traffic_;
  std::string failure_;
};

}  // namespace paths
