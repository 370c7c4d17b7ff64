// SPDX-License-Identifier: Apache-2.0
// paths/connections/send_queue.cpp — transfer of posted frames to the transport
#include "paths/connections/send_queue.hpp"

#include <fmt/format.h>

#include <utility>

namespace paths {

/// Sends one frame. If sending fails, reports the connection of the frame as lost, so that the
/// later frames in the queue are still sent.
template <class Send>
void SendQueue::hand_over(ConnectionId connection, Send send) {
  try {
    send();
  } catch (const std::exception& error) {
    report_unsent(connection, error);
  }
}

void SendQueue::report_unsent(ConnectionId connection, const std::exception& error) {
  receiver_.connection_lost(connection, fmt::format("a frame could not be sent: {}", error.what()));
}

void SendQueue::send(const Connection& connection, ShortFrame&& frame, runtime::Lock& lock) {
  const ConnectionId id = connection.id;
  if (is_sending_ || has_posted()) {
    posted_.emplace_back(id, ShortOne{connection.short_way, std::move(frame)});
    return send_posted(lock);
  }
  // The reference stays valid, because only the sending context drops connections.
  ShortWay& way = *connection.short_way;
  if (way.only_writes()) {
    try {
      return way.send(frame);
    } catch (const std::exception& error) {
      lock.unlock();
      report_unsent(id, error);
      return lock.lock();
    }
  }
  is_sending_ = true;
  lock.unlock();
  hand_over(id, [&] { way.send(frame); });
  lock.lock();
  send_all(lock);
}

void SendQueue::send_posted() {
  runtime::Lock lock(table_.mutex());
  send_posted(lock);
}

void SendQueue::send_posted(runtime::Lock& lock) {
  if (is_sending_ || !has_posted()) return;
  is_sending_ = true;
  send_all(lock);
}

/// Sends until no posted frame is left.
/// Requires: the caller has set is_sending_.
void SendQueue::send_all(runtime::Lock& lock) {
  while (has_posted()) {
    sent_.swap(posted_);
    const auto dropped = std::exchange(dropped_, {});
    lock.unlock();
    for (auto& [id, any] : sent_)
      hand_over(id, [this, connection = id, &frame = any] {
        if (const auto* const is_short = std::get_if<ShortOne>(&frame))
          is_short->way->send(is_short->frame);
        else
          table_.transport().send(connection, std::move(std::get<Frame>(frame)));
      });
    sent_.clear();
    for (const ConnectionId connection : dropped) table_.transport().drop(connection);
    lock.lock();
    for (const ConnectionId id : dropped)
      if (const Connection* connection = table_.find(id);
          connection != nullptr && !connection->is_ours)
        table_.erase(id);
  }
  is_sending_ = false;
  if (parting_.empty()) return;
  {
    runtime::DeferredWakes wakes;
    parting_.wake_all(wakes);
    lock.unlock();
  }
  lock.lock();
}

}  // namespace paths
