// SPDX-License-Identifier: Apache-2.0
// paths/connections/send_queue.hpp — frames leave in the order in which they were posted.
#pragma once
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "paths/connections/connection_table.hpp"

namespace paths {

/// Hands posted frames to the transport. One context at a time does that, for all: without the
/// mutex, because within one process the transport runs the peer's deliver().
///
/// Sharing: post(), drop() and the functions that take a lock require the mutex of the table.
class SendQueue {
 public:
  /// Both outlive this object. `receiver` learns which connections cannot carry a
  /// frame.
  SendQueue(ConnectionTable& table, Receiver& receiver) : table_(table), receiver_(receiver) {}

  void post(const Connection& connection, Frame&& frame) {
    posted_.emplace_back(connection.id, std::move(frame));
  }
  /// Gives the connection up behind what was posted. The table forgets one that a peer made.
  void drop(const Connection& connection) { dropped_.push_back(connection.id); }
  bool has_posted() const { return !posted_.empty() || !dropped_.empty(); }
  bool is_sending() const { return is_sending_; }
  /// Sends what was posted, unless another context does already. Releases `lock` meanwhile.
  void send_posted(runtime::Lock& lock);
  void send_posted();
  /// Sends a short frame behind what was posted: at once if there is nothing. Releases `lock` if
  /// sending may come back to this host.
  void send(const Connection& connection, ShortFrame&& frame, runtime::Lock& lock);
  /// Contexts that wait until peers answer our goodbyes, or until no context sends any more.
  runtime::WaitList& parting() { return parting_; }

 private:
  struct ShortOne {
    std::shared_ptr<ShortWay> way;
    ShortFrame frame;
  };
  using AnyFrame = std::variant<Frame, ShortOne>;
  template <class Send>
  void hand_over(ConnectionId connection, Send send);
  void tell_not_sent(ConnectionId connection, const std::exception& error);
  void send_all(runtime::Lock& lock);

  ConnectionTable& table_;
  Receiver& receiver_;
  std::vector<std::pair<ConnectionId, AnyFrame>> posted_;
  std::vector<std::pair<ConnectionId, AnyFrame>> sent_;  // by the context that sends
  std::vector<ConnectionId> dropped_;
  bool is_sending_ = false;
  runtime::WaitList parting_;
};

}  // namespace paths
