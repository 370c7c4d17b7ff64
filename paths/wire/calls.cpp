// SPDX-License-Identifier: Apache-2.0
// paths/wire/calls.cpp — requests and the replies their callers wait for.
#include <fmt/format.h>

#include <utility>

#include "paths/wire/connection.hpp"

namespace paths {

Result Connections::call(std::uint32_t to_host, StageId stage, Operation operation,
                         runtime::Deadline deadline) {
  const std::string& peer = peers_->hosts[to_host].name;
  const std::uint32_t path = operation.path;
  auto late = [&](std::string_view what) {
    return TravelError(peers_->hosts[host_].name, peers_->graph_of(path), "forward",
                       fmt::format("no {} from host {} in time (deadline {})", what, peer,
                                   base::format_time(peers_->deadline)));
  };
  const std::uint64_t sequence = operation.sequence;
  const base::Payload moved = operation.payload;
  Call call;
  runtime::Lock lock(mutex_);
  struct Forget {
    Connections& connections;
    Call& call;
    runtime::Lock& held;
    ~Forget() { connections.forget(call, held); }
  } const forget{*this, call, lock};
  request(call, to_host, stage, std::move(operation));
  send_posted(lock);
  // The far host answers a wait there that its own deadline ended, and names who was missing; ours
  // is for a host that answers nothing at all. Its death is noticed before either.
  const runtime::Deadline patience{deadline.at + peers_->deadline, deadline.written};
  while (!call.reply && call.lost.empty()) {
    const bool was_held = call.is_held;
    const runtime::Woken woken =
        call.waiting.wait(lock, was_held ? deadline : patience,
                          {was_held ? "credits from host" : "a reply from host", peer, sequence});
    if (woken == runtime::Woken::expired && was_held == call.is_held)
      throw late(was_held ? "credits" : "reply");
  }
  if (!call.reply) {
    Operation lost;
    lost.path = path;
    throw gone(*call.connection, lost);
  }
  if (call.reply->kind == FrameKind::error) throw TravelError(*call.reply->operation.failure);
  if (call.reply->returns_moved) call.reply->result.payload = moved;
  return std::move(call.reply->result);
}

/// Called with the mutex held.
void Connections::request(Call& call, std::uint32_t to_host, StageId stage, Operation operation) {
  Connection& connection = connection_to(to_host, stage);
  if (!connection.lost.empty()) throw gone(connection, operation);
  connection.begin(call);
  Frame frame = frame_of(FrameKind::request);
  frame.call = call.number;
  frame.stage = stage;
  frame.operation = std::move(operation);
  const bool follows_held = connection.last_held_like(frame) != connection.held.rend();
  if (follows_held) {
    connection.held.push_back(std::move(frame));
  } else {
    leave(connection, std::move(frame));
  }
}

/// Its caller has the answer, or has given up: then it need not leave any more. Called with the
/// mutex held, lets it go.
void Connections::forget(const Call& call, runtime::Lock& lock) {
  if (call.connection == nullptr) return;
  Connection& connection = *call.connection;
  connection.end(call);
  if (!call.is_held && !call.reply) connection.given_up.insert(call.number);
  if (!call.is_held) return;
  std::erase_if(connection.held, [&call](const Frame& frame) {
    return frame.kind == FrameKind::request && frame.call == call.number;
  });
  {
    runtime::Wakes wakes;
    post_held(connection, wakes);
    lock.unlock();
  }
  lock.lock();
  send_posted(lock);
}

void Connections::answer(Connection& connection, Frame frame, runtime::Wakes& wakes) {
  if (connection.given_up.erase(frame.call) > 0) return;
  const auto call = connection.calls.find(frame.call);
  call->second->reply = std::move(frame);
  call->second->waiting.wake_all(wakes);
}

}  // namespace paths
