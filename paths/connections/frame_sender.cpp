// SPDX-License-Identifier: Apache-2.0
// paths/connections/frame_sender.cpp — holding, later release and counting of frames to be sent
#include "paths/connections/frame_sender.hpp"

#include <fmt/format.h>

#include <list>
#include <utility>

namespace paths {

namespace {

/// Returns whether a frame must wait until the connection has credits. Pushes must wait, except
/// farewells. Requests do not wait, because the peer may need a request to complete the pushes that
/// use all credits. The number of requests is limited anyway, because each caller waits for the
/// reply.
bool waits_for_credits(const Frame& frame) {
  return frame.kind == FrameKind::one_way && !is_farewell(frame.operation.kind);
}

/// Returns whether the push `newer` may replace the push `held`, which waits for credits.
bool may_replace(const Frame& held, const Frame& newer) {
  const Operation &old = held.operation, &fresh = newer.operation;
  return held.kind == newer.kind && !is_farewell(fresh.kind) && old.kind == fresh.kind &&
         !old.failure && !fresh.failure && !old.kept && !fresh.kept;
}

}  // namespace

void FrameSender::push(std::uint32_t to_host, StageId stage, Operation operation) {
  {
    runtime::DeferredWakes wakes;
    runtime::Lock lock(table_.mutex());
    Connection& connection = connection_to(to_host, stage);
    if (!connection.lost.empty()) throw table_.gone(connection, operation.path);
    Frame frame = table_.frame_of(FrameKind::one_way);
    frame.stage = stage;
    frame.operation = std::move(operation);
    const auto last = connection.last_held_like(frame);
    // A push replaces only the last held frame of its path, so that the held frames of the path
    // stay in order.
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
    if (wakes.empty()) return queue_.send_posted(lock);
  }
  queue_.send_posted();
}

/// Returns the connection with that id; nullptr if it is unknown or lost.
Connection* FrameSender::find_open(ConnectionId id) {
  Connection* const connection = table_.find(id);
  return connection == nullptr || !connection->lost.empty() ? nullptr : connection;
}

void FrameSender::reply(ConnectionId id, Frame&& frame) {
  runtime::Lock lock(table_.mutex());
  Connection* const connection = find_open(id);
  if (connection == nullptr) return;
  post(*connection, std::move(frame));
  queue_.send_posted(lock);
}

void FrameSender::reply(ConnectionId id, std::uint32_t path, ShortFrame&& frame) {
  runtime::Lock lock(table_.mutex());
  Connection* const connection = find_open(id);
  if (connection == nullptr) return;
  if (!connection->short_way) connection->short_way = table_.transport().short_way(id);
  if (connection->short_way) send(*connection, path, std::move(frame), lock);
}

void FrameSender::end_push(ConnectionId id) {
  runtime::Lock lock(table_.mutex());
  Connection* const connection = find_open(id);
  if (connection == nullptr) return;
  connection->credits.owe();
  if (!connection->credits.owes_half()) return;
  post(*connection, FrameKind::credits);
  queue_.send_posted(lock);
}

void FrameSender::note_failure(const std::string& failure) {
  const runtime::Lock lock(table_.mutex());
  if (failure_.empty()) failure_ = failure;
}

std::string FrameSender::failure() const {
  const runtime::Lock lock(table_.mutex());
  return failure_;
}

/// Notes a failure that a peer reported. If the peer reports that this host is gone, the stored
/// text also names the peer. A peer may report this after this host was stopped for long.
void FrameSender::receive_failure(const Connection& connection, const std::string& text) {
  if (text.empty() || !failure_.empty()) return;
  const std::string loss = fmt::format("host {} is gone: ", table_.name());
  failure_ = text.starts_with(loss) ? fmt::format("host {} counts host {} as gone: {}",
                                                  table_.name_of(connection.peer), table_.name(),
                                                  text.substr(loss.size()))
                                    : text;
}

Connection& FrameSender::connection_to(std::uint32_t host, StageId stage) {
  if (Connection* const known = table_.leading_to(host, stage)) return *known;
  Connection& connection = table_.connect(host, stage);
  Frame hello = table_.frame_of(FrameKind::hello);
  hello.stage = connection.key;
  hello.text = table_.name();
  post(connection, std::move(hello));
  return connection;
}

void FrameSender::take_credits(Connection& connection, std::uint32_t credits,
                               runtime::DeferredWakes& wakes) {
  if (credits == 0) return;
  connection.credits.take_back(credits);
  // Wakes the contexts that wait for goodbyes of peers. These contexts must extend their time
  // limit, because the peer has made progress: it returned credits, so that held frames can leave.
  queue_.parting().wake_all(wakes);
  post_held(connection, wakes);
}

void FrameSender::post_held(Connection& connection, runtime::DeferredWakes& wakes) {
  auto& held = connection.held;
  while (!held.empty() && may_leave(connection, held.front())) {
    leave_at_last(connection, std::move(held.front()), wakes);
    held.pop_front();
  }
  if (!held.empty() || !std::exchange(connection.is_parting, false)) return;
  post_goodbye(connection);
}

void FrameSender::post_goodbye(Connection& connection) {
  connection.has_said_goodbye = true;
  Frame goodbye = table_.frame_of(FrameKind::goodbye);
  goodbye.text = failure_;
  post(connection, std::move(goodbye));
}

void FrameSender::leave_at_last(Connection& connection, Frame&& frame,
                                runtime::DeferredWakes& wakes) {
  if (frame.kind == FrameKind::request)  // from now on the caller waits for the reply
    connection.call_of(frame.call)->tell(wakes);
  leave(connection, std::move(frame));
}

/// Posts each held frame that may leave, also if an earlier frame in the list may not. In contrast,
/// post_held() stops at the first frame that may not leave. A frame stays held if an earlier frame
/// of the same thread, path and stage is still held.
void FrameSender::post_first(Connection& connection, runtime::DeferredWakes& wakes) {
  std::list<Frame> waited = std::exchange(connection.held, {});
  for (Frame& frame : waited) {
    if (may_leave(connection, frame) && !connection.holds_like(frame))
      leave_at_last(connection, std::move(frame), wakes);
    else
      connection.held.push_back(std::move(frame));
  }
  post_held(connection, wakes);
}

/// Returns whether a frame may be sent now. No operation is sent before the peer's welcome. The
/// welcome shows that the two hosts' calls of deploy() belong together.
bool FrameSender::may_leave(const Connection& connection, const Frame& frame) {
  return connection.is_welcome && (connection.credits.has_credits() || !waits_for_credits(frame));
}

void FrameSender::leave(Connection& connection, Frame&& frame) {
  if (!is_farewell(frame.operation.kind)) connection.credits.use();
  if (frame.kind == FrameKind::request) {
    connection.call_of(frame.call)->is_held = false;
    if (StandingCall* const of = connection.standing_of(frame.call)) of->is_known = true;
  }
  frame.time_left = table_.time_left(frame.operation.until);
  post(connection, std::move(frame));
}

void FrameSender::post(Connection& connection, Frame&& frame) {
  connection.is_sent = true;
  frame.credits = connection.credits.give_back();
  const OperationKind kind = frame.operation.kind;
  if (!is_control(frame.kind)) {
    const std::size_t bytes = frame.kind == FrameKind::reply ? frame.result.payload.size()
                                                             : frame.operation.payload.size();
    count(connection, frame.operation.path,
          is_housekeeping(kind) ? Traffic{.control = 1} : Traffic{.messages = 1, .bytes = bytes});
  }
  // A release also reports the failure that this host's goodbye will report. The goodbye may be too
  // late, because a gateway may end before it arrives.
  if (kind == OperationKind::release && frame.kind == FrameKind::one_way) frame.text = failure_;
  queue_.post(connection, std::move(frame));
}

void FrameSender::count(const Connection& connection, std::uint32_t path, const Traffic& sent) {
  traffic_.count(table_.peers().graph_of_path[path],
                 table_.peers().are_in_different_clusters(connection.peer, table_.host()), sent);
}

void FrameSender::send(Connection& connection, std::uint32_t path, ShortFrame&& frame,
                       runtime::Lock& lock) {
  connection.is_sent = true;
  count(connection, path, {.messages = 1, .bytes = frame.result.payload.size()});
  queue_.send(connection, std::move(frame), lock);
}

}  // namespace paths
