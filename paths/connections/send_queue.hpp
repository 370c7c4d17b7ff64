// SPDX-License-Identifier: Apache-2.0
// paths/connections/send_queue.hpp — queue of frames that wait for the transport
#pragma once
#include <exception>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "paths/connections/connection_table.hpp"

namespace paths {

/// Passes frames to the transport. Many contexts (OS threads or fibers) post frames. One context at
/// a time passes the posted frames of all contexts to the transport, so that frames of one
/// connection leave in the order in which they were posted.
///
/// Why: the mutex must not be held while the transport sends, because within one process the
///      transport calls the peer's deliver().
/// Thread-safe: send_posted(). All other functions require the mutex of the table.
class SendQueue {
 public:
  /// If a frame cannot be sent, the loss of its connection is reported to `receiver`.
  /// Requires: the arguments outlive this object.
  SendQueue(ConnectionTable& table, Receiver& receiver) : table_(table), receiver_(receiver) {}

  void post(const Connection& connection, Frame&& frame) {
    posted_.emplace_back(connection.id, std::move(frame));
  }
  /// Drops the connection after its posted frames have been sent. If a peer made the connection,
  /// also removes it from the table.
  void drop(const Connection& connection) { dropped_.push_back(connection.id); }
  bool has_posted() const { return !posted_.empty() || !dropped_.empty(); }
  bool is_sending() const { return is_sending_; }
  /// Sends the posted frames, unless another context is sending. Unlocks `lock` while it sends.
  void send_posted(runtime::Lock& lock);
  void send_posted();
  /// Sends a short frame after the frames that were posted before. May unlock `lock` and lock it
  /// again.
  void send(const Connection& connection, ShortFrame&& frame, runtime::Lock& lock);
  /// Returns the list of contexts that wait until all peers have replied to this host's goodbyes
  /// and until no frame is being sent.
  runtime::WaitList& parting() { return parting_; }

 private:
  struct ShortOne {
    std::shared_ptr<ShortWay> way;
    ShortFrame frame;
  };
  using AnyFrame = std::variant<Frame, ShortOne>;
  template <class Send>
  void hand_over(ConnectionId connection, Send send);
  void report_unsent(ConnectionId connection, const std::exception& error);
  void send_all(runtime::Lock& lock);

  ConnectionTable& table_;
  Receiver& receiver_;
  std::vector<std::pair<ConnectionId, AnyFrame>> posted_;
  // Frames that are being sent. Only the sending context uses this member.
  std::vector<std::pair<ConnectionId, AnyFrame>> sent_;
  std::vector<ConnectionId> dropped_;
  bool is_sending_ = false;
  runtime::WaitList parting_;
};

}  // namespace paths
