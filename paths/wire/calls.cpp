// SPDX-License-Identifier: Apache-2.0
// paths/wire/calls.cpp — requests and the replies their callers wait for.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "paths/wire/connection.hpp"

namespace paths {

Result Connections::call(std::uint32_t to_host, StageId stage, Operation&& operation,
                         runtime::Deadline deadline) {
  const std::string& peer = peers_->hosts[to_host].name;
  const std::uint64_t sequence = operation.sequence;
  Call call;
  call.deadline = deadline;
  runtime::Lock lock(mutex_);
  struct Forget {
    Connections& connections;
    Call& call;
    runtime::Lock& held;
    ~Forget() { connections.forget(call, held); }
  } const forget{*this, call, lock};
  const bool is_short = request(call, to_host, stage, operation);
  leave(call, is_short, operation, lock);
  while (!call.answered && call.lost.empty()) {
    const bool lacks_credits = call.lacks_credits();
    const runtime::Woken woken = call.waiting.wait(
        lock, limit_of(call),
        {lacks_credits ? "credits from host" : "a reply from host", peer, sequence});
    if (woken == runtime::Woken::expired && lacks_credits == call.lacks_credits()) throw late(call);
  }
  return result_of(call);
}

/// The far host answers a wait there that its own deadline ended, and names who was missing; ours
/// is for a host that answers nothing at all. Its death is noticed before either.
runtime::Deadline Connections::limit_of(const Call& call) const {
  if (call.lacks_credits()) return call.deadline;
  return {call.deadline.at + peers_->deadline, call.deadline.written};
}

TravelError Connections::late(const Call& call) const {
  return TravelError(
      peers_->hosts[host_].name, peers_->graph_of(call.path), "forward",
      fmt::format("no {} from host {} in time (deadline {})",
                  call.lacks_credits() ? "credits" : "reply", peers_->hosts[call.to_host].name,
                  base::format_time(peers_->deadline)));
}

/// What came of a call that was answered or lost; throws what the answer says.
Result Connections::result_of(Call& call) const {
  if (!call.answered) throw gone(*call.connection, call.path);
  if (call.answered->failure) throw TravelError(*call.answered->failure);
  return std::move(call.answered->result);
}

// ---- without a context ------------------------------------------------------------------------

void Connections::begin_call(std::uint32_t to_host, StageId stage, Operation&& operation,
                             runtime::Deadline deadline, Responder& responder) {
  runtime::Lock lock(mutex_);
  Begun& begun = responder.emplace_state<Begun>(*this);
  begun.call.deadline = deadline;
  begun.call.begun = &begun;
  bool is_short = false;
  try {
    is_short = request(begun.call, to_host, stage, operation);
  } catch (...) {
    responder.pop_state();
    throw;
  }
  begun.responder = std::move(responder);
  leave(begun.call, is_short, operation, lock);
}

/// Called with the mutex held: it was answered or lost, or may leave now.
void Connections::tell(Call& call, runtime::Wakes& wakes) {
  call.waiting.wake_all(wakes);
  const bool is_over = call.answered || !call.lost.empty();
  if (call.begun != nullptr && is_over && !std::exchange(call.begun->is_told, true))
    wakes.tell(*call.begun);
}

void Connections::end(Begun& begun) {
  Outcome outcome;
  {
    runtime::Lock lock(mutex_);
    try {
      if (begun.is_late) throw late(begun.call);
      outcome.result = result_of(begun.call);
    } catch (const TravelError& error) {
      outcome.failure = std::make_shared<TravelError>(error);
    }
    forget(begun.call, lock);
  }
  Responder responder = std::move(begun.responder);
  responder.pop_state();
  responder.reply(std::move(outcome));
}

base::Nanos Connections::end_late(base::Nanos now) {
  base::Nanos next = base::Nanos::max();
  runtime::Wakes wakes;
  const runtime::Lock lock(mutex_);
  for (const auto& [id, connection] : connections_)
    connection->each_call([&](const Call& call) {
      if (call.begun == nullptr || call.begun->is_told) return;
      const base::Nanos until = runtime::end_of(runtime_, limit_of(call));
      if (until > now) {
        next = std::min(next, until);
        return;
      }
      call.begun->is_told = call.begun->is_late = true;
      wakes.tell(*call.begun);
    });
  return next;
}

/// Called with the mutex held; leave() is to follow. Answers whether it goes as a short frame.
bool Connections::request(Call& call, std::uint32_t to_host, StageId stage, Operation& operation) {
  call.to_host = to_host;
  call.path = operation.path;
  Connection& connection = connection_to(to_host, stage);
  if (!connection.lost.empty()) throw gone(connection, operation.path);
  Standing* const standing = connection.standing_for(stage, operation);
  connection.begin(call, standing);
  if (standing != nullptr && standing->is_known && connection.held.empty()) {
    call.is_held = false;
    return true;
  }
  call.moved = operation.payload;
  Frame frame = frame_of(FrameKind::request);
  frame.call = call.number;
  frame.stage = stage;
  frame.operation = std::move(operation);
  if (!may_leave(connection, frame) || connection.holds_like(frame)) {
    connection.held.push_back(std::move(frame));
  } else {
    leave(connection, std::move(frame));
  }
  return false;
}

/// Called with the mutex held, which is let go to send.
void Connections::leave(const Call& call, bool is_short, Operation& operation,
                        runtime::Lock& lock) {
  if (!is_short) return send_posted(lock);
  ShortFrame frame;
  frame.standing = static_cast<std::uint32_t>(standing_of_call(call.number));
  frame.thread = operation.thread;
  frame.result.sequence = operation.sequence;
  frame.result.contributions = operation.contributions;
  frame.result.payload = std::move(operation.payload);
  send(*call.connection, operation.path, std::move(frame), lock);
}

/// Its caller has the answer, or has given up: then it need not leave any more. Called with the
/// mutex held, lets it go.
void Connections::forget(const Call& call, runtime::Lock& lock) {
  if (call.connection == nullptr) return;
  Connection& connection = *call.connection;
  connection.end(call);
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

void Connections::answer(Connection& connection, Frame&& frame, runtime::Wakes& wakes) {
  if (connection.answer_given_up(frame.call)) return;
  Call& call = *connection.call_of(frame.call);
  Outcome& outcome = call.answered.emplace();
  if (frame.kind == FrameKind::error) {
    outcome.failure = std::move(frame.operation.failure);
  } else {
    outcome.result = std::move(frame.result);
    if (frame.returns_moved) outcome.result.payload = std::move(call.moved);
  }
  tell(call, wakes);
}

void Connections::answer(Connection& connection, ShortFrame&& frame, runtime::Wakes& wakes) {
  const std::uint64_t number = call_of_standing(frame.standing);
  if (connection.answer_given_up(number)) return;
  Call& call = *connection.call_of(number);
  call.answered.emplace(Outcome{std::move(frame.result), nullptr});
  tell(call, wakes);
}

}  // namespace paths
