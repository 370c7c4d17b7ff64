// SPDX-License-Identifier: Apache-2.0
// paths/connections/requests.cpp — calls for which a thread or fiber waits, and asynchronous calls
#include "paths/connections/requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace paths {

Result Requests::call(std::uint32_t to_host, StageId stage, Operation&& operation,
                      base::Nanos reply_time) {
  const std::string& peer = table_.name_of(to_host);
  const std::uint64_t sequence = operation.sequence;
  PendingCall call;
  call.until = operation.until;
  call.reply_time = reply_time;
  runtime::Lock lock(table_.mutex());
  struct Forget {
    Requests& requests;
    PendingCall& call;
    runtime::Lock& held;
    ~Forget() { requests.forget(call, held); }
  } const forget{*this, call, lock};
  const bool is_short = request(call, to_host, stage, operation);
  leave(call, is_short, operation, lock);
  while (!call.answered && call.lost.empty()) {
    const bool lacks_credits = call.lacks_credits();
    const runtime::Woken woken = call.waiting.wait(
        lock, runtime::Deadline::written_at(limit_of(call)),
        {lacks_credits ? "credits from host" : "a reply from host", peer, sequence});
    if (woken == runtime::Woken::expired && lacks_credits == call.lacks_credits()) throw late(call);
  }
  return result_of(call);
}

/// Returns the time at which the caller stops waiting: `reply_time` after the deadline.
/// Why: if the operation misses its deadline on the called host, the called host replies with an
///      error that names the host for which it waited. This reply needs time to arrive.
base::Nanos Requests::limit_of(const PendingCall& call) {
  const bool has_limit = call.until != base::Nanos::max();
  return call.lacks_credits() || !has_limit ? call.until : call.until + call.reply_time;
}

TravelError Requests::late(const PendingCall& call) const {
  return TravelError(
      table_.name(), table_.peers().graph_of(call.path), "forward",
      fmt::format("no {} from host {} in time (deadline {})",
                  call.lacks_credits() ? "credits" : "reply", table_.name_of(call.connection->peer),
                  base::format_time(table_.peers().deadline)),
      FailureCause::deadline);
}

/// Returns the result of a completed call. Throws if the call failed or its connection was lost.
Result Requests::result_of(PendingCall& call) const {
  if (!call.answered) throw table_.gone(*call.connection, call.path);
  if (call.answered->failure) throw TravelError(*call.answered->failure);
  return std::move(call.answered->result);
}

// ---- without a context ------------------------------------------------------------------------

void Requests::begin_call(std::uint32_t to_host, StageId stage, Operation&& operation,
                          base::Nanos reply_time, Responder& responder) {
  runtime::Lock lock(table_.mutex());
  AsynchronousCall& begun = responder.emplace_state<AsynchronousCall>(*this);
  begun.call.until = operation.until;
  begun.call.reply_time = reply_time;
  begun.call.asynchronous = &begun;
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

void AsynchronousCall::notify() noexcept { runtime::schedule(requests.table_.runtime(), *this); }

void AsynchronousCall::resume() noexcept { requests.end(*this); }

void Requests::end(AsynchronousCall& begun) {
  Outcome outcome;
  {
    runtime::Lock lock(table_.mutex());
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

base::Nanos Requests::end_late(base::Nanos now) {
  base::Nanos next = base::Nanos::max();
  runtime::DeferredWakes wakes;
  const runtime::Lock lock(table_.mutex());
  for (const auto& [id, connection] : table_.all())
    connection->each_call([&](const PendingCall& call) {
      if (call.asynchronous == nullptr || call.asynchronous->is_notified) return;
      const base::Nanos until = limit_of(call);
      if (until > now) {
        next = std::min(next, until);
        return;
      }
      call.asynchronous->is_notified = call.asynchronous->is_late = true;
      wakes.notify(*call.asynchronous);
    });
  return next;
}

/// Registers a call. Then posts the request of the call, or holds the request if it must not leave
/// yet. If the function returns true, the request has not been posted and must be sent as a short
/// frame. The caller must call leave() next, which sends it.
/// Requires: the mutex is held.
bool Requests::request(PendingCall& call, std::uint32_t to_host, StageId stage,
                       Operation& operation) {
  call.path = operation.path;
  Connection& connection = sender_.connection_to(to_host, stage);
  if (!connection.lost.empty()) throw table_.gone(connection, operation.path);
  StandingCall* const standing = connection.standing_for(stage, operation);
  connection.begin(call, standing);
  if (standing != nullptr && standing->is_known && connection.held.empty()) {
    call.is_held = false;
    return true;
  }
  call.moved = operation.payload;
  Frame frame = table_.frame_of(FrameKind::request);
  frame.call = call.number;
  frame.stage = stage;
  frame.operation = std::move(operation);
  if (!FrameSender::may_leave(connection, frame) || connection.holds_like(frame)) {
    connection.held.push_back(std::move(frame));
  } else {
    sender_.leave(connection, std::move(frame));
  }
  return false;
}

/// Sends the request. Unlocks the mutex while it sends.
/// Requires: the mutex is held.
void Requests::leave(const PendingCall& call, bool is_short, Operation& operation,
                     runtime::Lock& lock) {
  if (!is_short) return queue_.send_posted(lock);
  ShortFrame frame;
  frame.standing = static_cast<std::uint32_t>(standing_of_call(call.number));
  frame.thread = operation.thread;
  frame.result.sequence = operation.sequence;
  frame.result.contributions = operation.contributions;
  frame.result.payload = std::move(operation.payload);
  frame.result.number = static_cast<std::uint64_t>(table_.time_left(operation.until).count());
  sender_.send(*call.connection, operation.path, std::move(frame), lock);
}

/// Removes a call after its reply has arrived, or after its caller stopped waiting. If the request
/// of the call is still held, it is discarded. May unlock the mutex and lock it again.
/// Requires: the mutex is held.
void Requests::forget(const PendingCall& call, runtime::Lock& lock) {
  if (call.connection == nullptr) return;
  Connection& connection = *call.connection;
  connection.end(call);
  if (!call.is_held) return;
  std::erase_if(connection.held, [&call](const Frame& frame) {
    return frame.kind == FrameKind::request && frame.call == call.number;
  });
  {
    runtime::DeferredWakes wakes;
    sender_.post_held(connection, wakes);
    lock.unlock();
  }
  lock.lock();
  queue_.send_posted(lock);
}

void Requests::answer(Connection& connection, Frame&& frame, runtime::DeferredWakes& wakes) {
  if (connection.answer_given_up(frame.call)) return;
  PendingCall& call = *connection.call_of(frame.call);
  Outcome& outcome = call.answered.emplace();
  if (frame.kind == FrameKind::error) {
    outcome.failure = std::move(frame.operation.failure);
  } else {
    outcome.result = std::move(frame.result);
    if (frame.returns_moved) outcome.result.payload = std::move(call.moved);
  }
  call.tell(wakes);
}

void Requests::answer(Connection& connection, ShortFrame&& frame, runtime::DeferredWakes& wakes) {
  const std::uint64_t number = call_of_standing(frame.standing);
  if (connection.answer_given_up(number)) return;
  PendingCall& call = *connection.call_of(number);
  call.answered.emplace(Outcome{std::move(frame.result), nullptr});
  call.tell(wakes);
}

}  // namespace paths
