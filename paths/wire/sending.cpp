// SPDX-License-Identifier: Apache-2.0
// paths/wire/sending.cpp — the order in which frames leave, and the credits that bound pushes.
#include <fmt/format.h>

#include <utility>

#include "paths/wire/connection.hpp"

namespace paths {

namespace {

/// A request does not: it is bounded by the one who waits for its reply, and that may be what
/// those pushes need that have the credits.
bool waits_for_credits(const Frame& frame) {
  return frame.kind == FrameKind::one_way && !is_farewell(frame.operation.kind);
}

/// A push that has not left for want of credits, by a newer one.
bool may_replace(const Frame& held, const Frame& newer) {
  const Operation &old = held.operation, &fresh = newer.operation;
  return held.kind == newer.kind && !is_farewell(fresh.kind) && old.kind == fresh.kind &&
         !old.failure && !fresh.failure && !old.kept && !fresh.kept;
}

}  // namespace

void Connections::push(std::uint32_t to_host, StageId stage, Operation operation) {
  {
    runtime::Wakes wakes;
    runtime::Lock lock(mutex_);
    Connection& connection = connection_to(to_host, stage);
    if (!connection.lost.empty()) throw gone(connection, operation.path);
    Frame frame = frame_of(FrameKind::one_way);
    frame.stage = stage;
    frame.operation = std::move(operation);
    const auto last = connection.last_held_like(frame);
    // Only the last one of the path may be replaced, so that all that stays is in order.
    if (may_leave(connection, frame) &&
        (frame.operation.kind == OperationKind::withdraw || connection.held.empty())) {
      leave(connection, std::move(frame));
    } else if (connection.has_no_room() && last != connection.held.rend() &&
               may_replace(*last, frame)) {
      *last = std::move(frame);
    } else {
      connection.held.push_back(std::move(frame));
      post_held(connection, wakes);
    }
    if (wakes.empty()) return send_posted(lock);
  }
  send_posted();
}

void Connections::reply(ConnectionId id, Frame&& frame) {
  runtime::Lock lock(mutex_);
  Connection* connection = find(id);
  if (connection == nullptr || !connection->lost.empty()) return;
  post(*connection, std::move(frame));
  send_posted(lock);
}

void Connections::reply(ConnectionId id, std::uint32_t path, ShortFrame&& frame) {
  runtime::Lock lock(mutex_);
  Connection* connection = find(id);
  if (connection == nullptr || !connection->lost.empty()) return;
  if (!connection->short_way) connection->short_way = transport_->short_way(id);
  if (connection->short_way) send(*connection, path, std::move(frame), lock);
}

void Connections::pushed_in(ConnectionId id) {
  runtime::Lock lock(mutex_);
  Connection* connection = find(id);
  if (connection == nullptr || !connection->lost.empty()) return;
  if (++connection->to_give_back < window / 2) return;
  post(*connection, frame_of(FrameKind::credits));
  send_posted(lock);
}

void Connections::take_credits(Connection& connection, std::uint32_t credits,
                               runtime::Wakes& wakes) {
  if (credits == 0) return;
  connection.credits += credits;
  parting_.wake_all(wakes);  // what is held goes on
  post_held(connection, wakes);
}

void Connections::post_held(Connection& connection, runtime::Wakes& wakes) {
  auto& held = connection.held;
  while (!held.empty() && may_leave(connection, held.front())) {
    leave_at_last(connection, std::move(held.front()), wakes);
    held.pop_front();
  }
  if (!held.empty() || !std::exchange(connection.is_parting, false)) return;
  connection.has_said_goodbye = true;
  post(connection, goodbye());
}

void Connections::leave_at_last(Connection& connection, Frame&& frame, runtime::Wakes& wakes) {
  if (frame.kind == FrameKind::request)  // its caller now waits for the reply
    tell(*connection.call_of(frame.call), wakes);
  leave(connection, std::move(frame));
}

/// Unlike what waits for credits, of which requests wait only behind pushes of their own thread.
void Connections::post_what_waited_for_the_welcome(Connection& connection, runtime::Wakes& wakes) {
  std::list<Frame> waited = std::exchange(connection.held, {});
  for (Frame& frame : waited) {
    if (may_leave(connection, frame) && !connection.holds_like(frame))
      leave_at_last(connection, std::move(frame), wakes);
    else
      connection.held.push_back(std::move(frame));
  }
  post_held(connection, wakes);
}

/// No payload goes to a peer before both know that their calls of wire() belong together.
bool Connections::may_leave(const Connection& connection, const Frame& frame) {
  return connection.is_welcome && (connection.credits > 0 || !waits_for_credits(frame));
}

void Connections::leave(Connection& connection, Frame&& frame) {
  if (!is_farewell(frame.operation.kind)) --connection.credits;
  if (frame.kind == FrameKind::request) {
    connection.call_of(frame.call)->is_held = false;
    if (Standing* const of = connection.standing_of(frame.call)) of->is_known = true;
  }
  post(connection, std::move(frame));
}

void Connections::post(Connection& connection, Frame&& frame) {
  frame.credits = std::exchange(connection.to_give_back, 0);
  Traffic one;
  const OperationKind kind = frame.operation.kind;
  if (is_control(frame.kind) || is_housekeeping(kind)) {
    one.control = 1;
  } else {
    one.messages = 1;
    one.bytes = frame.kind == FrameKind::reply ? frame.result.payload.size()
                                               : frame.operation.payload.size();
  }
  count(connection, is_control(frame.kind) ? no_graph : peers_->graph_of_path[frame.operation.path],
        one);
  // A gateway may have ended before our goodbye, which says it too, comes.
  if (kind == OperationKind::release && frame.kind == FrameKind::one_way) frame.text = failure_;
  posted_.emplace_back(connection.id, std::move(frame));
}

void Connections::count(const Connection& connection, std::uint32_t graph, const Traffic& sent) {
  if (last_counted_.second == nullptr || last_counted_.first != graph)
    last_counted_ = {graph, &counted_[graph]};  // nodes do not move
  Counted& counted = *last_counted_.second;
  counted.all += sent;
  if (peers_->are_in_different_clusters(connection.peer, host_)) counted.wan += sent;
}

/// What cannot be handed over loses its connection; the frames behind it go on.
template <class Send>
void Connections::hand_over(ConnectionId connection, Send send) {
  try {
    send();
  } catch (const std::exception& error) {
    not_sent(connection, error);
  }
}

void Connections::not_sent(ConnectionId connection, const std::exception& error) {
  connection_lost(connection, fmt::format("a frame could not be sent: {}", error.what()));
}

/// Called with the mutex held, which is let go to send where that may come back to us: at once,
/// when nothing is before it.
void Connections::send(const Connection& connection, std::uint32_t path, ShortFrame&& frame,
                       runtime::Lock& lock) {
  count(connection, peers_->graph_of_path[path],
        {.messages = 1, .bytes = frame.result.payload.size()});
  const ConnectionId id = connection.id;
  if (sending_ || has_posted()) {
    posted_.emplace_back(id, ShortOne{connection.short_way, std::move(frame)});
    return send_posted(lock);
  }
  ShortWay& way = *connection.short_way;  // who sends is who ends connections
  if (way.only_writes()) {
    try {
      return way.send(frame);
    } catch (const std::exception& error) {
      lock.unlock();
      not_sent(id, error);
      return lock.lock();
    }
  }
  sending_ = true;
  lock.unlock();
  hand_over(id, [&] { way.send(frame); });
  lock.lock();
  send_all(lock);
}

void Connections::send_posted() {
  runtime::Lock lock(mutex_);
  send_posted(lock);
}

/// Called with the mutex held, which is let go to send what there is, unless somebody does already.
void Connections::send_posted(runtime::Lock& lock) {
  if (sending_ || !has_posted()) return;
  sending_ = true;
  send_all(lock);
}

/// Called with the mutex held, by the one who sends: until there is nothing left to.
void Connections::send_all(runtime::Lock& lock) {
  while (has_posted()) {
    sent_.swap(posted_);
    const auto dropped = std::exchange(dropped_, {});
    lock.unlock();
    for (auto& [id, any] : sent_)
      hand_over(id, [this, connection = id, &frame = any] {
        if (const auto* const is_short = std::get_if<ShortOne>(&frame))
          is_short->way->send(is_short->frame);
        else
          transport_->send(connection, std::move(std::get<Frame>(frame)));
      });
    sent_.clear();
    for (const ConnectionId connection : dropped) transport_->drop(connection);
    lock.lock();
    for (const ConnectionId id : dropped)
      if (const Connection* connection = find(id); connection != nullptr && !connection->is_ours)
        erase(id);
  }
  sending_ = false;
  if (parting_.empty()) return;
  {
    runtime::Wakes wakes;
    parting_.wake_all(wakes);
    lock.unlock();
  }
  lock.lock();
}

}  // namespace paths
