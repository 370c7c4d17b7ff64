// SPDX-License-Identifier: Apache-2.0
// paths/connections/requests.hpp — requests of this host and the replies their callers wait for.
#pragma once
#include <cstdint>

#include "paths/connections/connection_table.hpp"
#include "paths/connections/frame_sender.hpp"
#include "paths/connections/send_queue.hpp"

namespace paths {

/// Calls of other hosts that wait for replies.
///
/// Sharing: any context may call the public functions, except answer(), which requires the mutex
///          of the table.
class Requests {
 public:
  /// All outlive this object.
  Requests(ConnectionTable& table, FrameSender& sender, SendQueue& queue)
      : table_(table), sender_(sender), queue_(queue) {}

  /// Sends the operation and returns the reply.
  ///
  /// Blocks: until the reply is there, or until the deadline of the run after `deadline`.
  /// Throws:  TravelError if the reply says so, or if the peer is lost or late.
  Result call(std::uint32_t to_host, StageId stage, Operation&& operation,
              runtime::Deadline deadline);
  /// The same without a context: the reply goes to `responder`, which the caller still has if this
  /// throws.
  void begin_call(std::uint32_t to_host, StageId stage, Operation&& operation,
                  runtime::Deadline deadline, Responder& responder);
  /// Fails calls without a context whose reply is late at `now`. Returns when
  /// the next reply is late.
  base::Nanos end_late(base::Nanos now);

  static void answer(Connection& connection, Frame&& frame, runtime::DeferredWakes& wakes);
  static void answer(Connection& connection, ShortFrame&& frame, runtime::DeferredWakes& wakes);

 private:
  friend struct AsynchronousCall;
  void end(AsynchronousCall& call);
  bool request(PendingCall& call, std::uint32_t to_host, StageId stage, Operation& operation);
  void leave(const PendingCall& call, bool is_short, Operation& operation, runtime::Lock& lock);
  runtime::Deadline limit_of(const PendingCall& call) const;
  Result result_of(PendingCall& call) const;
  TravelError late(const PendingCall& call) const;
  void forget(const PendingCall& call, runtime::Lock& lock);

  ConnectionTable& table_;
  FrameSender& sender_;
  SendQueue& queue_;
};

}  // namespace paths
