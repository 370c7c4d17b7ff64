// SPDX-License-Identifier: Apache-2.0
// paths/connections/requests.hpp — requests of this host to other hosts, and their replies
#pragma once
#include <cstdint>

#include "paths/connections/connection_table.hpp"
#include "paths/connections/frame_sender.hpp"
#include "paths/connections/send_queue.hpp"

namespace paths {

/// Makes calls to other hosts and waits for their replies.
///
/// Thread-safe: all public functions except answer(), which requires the mutex of the table.
class Requests {
 public:
  /// Requires: the arguments outlive this object.
  Requests(ConnectionTable& table, FrameSender& sender, SendQueue& queue)
      : table_(table), sender_(sender), queue_(queue) {}

  /// Sends the operation and returns the reply.
  ///
  /// Blocks: until the reply arrives, but at most until `reply_time` after the deadline of the
  ///         operation.
  /// Throws: TravelError if the reply is an error, or if the peer is lost or late.
  Result call(std::uint32_t to_host, StageId stage, Operation&& operation, base::Nanos reply_time);
  /// Sends an operation without waiting for the reply. `responder` gets the reply later. If the
  /// function throws, the caller still owns `responder`.
  void begin_call(std::uint32_t to_host, StageId stage, Operation&& operation,
                  base::Nanos reply_time, Responder& responder);
  /// Fails the calls that begin_call() began and whose time limit has passed at `now`. Returns the
  /// earliest time limit of the remaining calls of this kind; Nanos::max() if there are none.
  base::Nanos end_late(base::Nanos now);

  static void answer(Connection& connection, Frame&& frame, runtime::DeferredWakes& wakes);
  static void answer(Connection& connection, ShortFrame&& frame, runtime::DeferredWakes& wakes);

 private:
  friend struct AsynchronousCall;
  void end(AsynchronousCall& call);
  bool request(PendingCall& call, std::uint32_t to_host, StageId stage, Operation& operation);
  void leave(const PendingCall& call, bool is_short, Operation& operation, runtime::Lock& lock);
  static base::Nanos limit_of(const PendingCall& call);
  Result result_of(PendingCall& call) const;
  TravelError late(const PendingCall& call) const;
  void forget(const PendingCall& call, runtime::Lock& lock);

  ConnectionTable& table_;
  FrameSender& sender_;
  SendQueue& queue_;
};

}  // namespace paths
