// SPDX-License-Identifier: Apache-2.0
// paths/host/requests/standing_calls.cpp — execution of operations that arrive in short frames.
#include "paths/host/requests/standing_calls.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "paths/host/deployment.hpp"

namespace paths {
namespace {

/// Returns a key that is unique among all standing calls on this host. The number `standing` is
/// unique only on its connection.
std::uint64_t key_of(ConnectionId connection, std::uint64_t standing) {
  return connection * standing_max + standing;
}

base::Nanos time_left_of(const ShortFrame& request) {
  return base::Nanos(static_cast<std::int64_t>(request.result.number));
}

}  // namespace

Dispatcher::Standing::Standing(Dispatcher& dispatcher, ConnectionId connection, const Frame& first,
                               const Validator::Standing& of)
    : OperationState(room),
      stage(*dispatcher.deployment_.instance().stage(first.stage)),
      dispatcher_(dispatcher),
      connection_(connection),
      admitted_(of),
      request_(first) {
  request_.operation.payload = {};
}

bool Dispatcher::Standing::is_of(const Frame& request) const {
  const Operation &mine = request_.operation, &other = request.operation;
  return request.stage == request_.stage && other.path == mine.path && other.slot == mine.slot;
}

Operation Dispatcher::Standing::operation_of(ShortFrame&& frame) const {
  Operation operation;
  operation.path = request_.operation.path;
  operation.thread = frame.thread;
  operation.slot = request_.operation.slot;
  operation.sequence = frame.result.sequence;
  operation.contributions = frame.result.contributions;
  operation.payload = std::move(frame.result.payload);
  operation.until = dispatcher_.deployment_.operation_end(time_left_of(frame));
  return operation;
}

Frame Dispatcher::Standing::whole(ShortFrame&& frame) const {
  Frame request = request_;
  const base::Nanos time_left = time_left_of(frame);
  request.credits = 0;
  request.operation = operation_of(std::move(frame));
  request.time_left = time_left;
  return request;
}

bool Dispatcher::Standing::admit(const ShortFrame& frame) {
  const Result& of = frame.result;
  if (stage.needs_context || is_under_way_ ||
      !dispatcher_.validator_.admit(admitted_, frame.thread, of.sequence, of.contributions))
    return false;
  is_under_way_ = true;
  dispatcher_.deployment_.services().add_operation();
  return true;
}

Validator::Verdict Dispatcher::Standing::validate(const ShortFrame& frame) {
  using Verdict = Validator::Verdict;
  if (stage.needs_context) return {};
  Verdict verdict = dispatcher_.validator_.validate(admitted_, frame.thread, frame.result.sequence,
                                                    frame.result.contributions);
  if (verdict.kind != Verdict::Kind::enters) return verdict;
  if (std::exchange(is_under_way_, true))
    return {.kind = Verdict::Kind::wrong,
            .reason = "a standing call's next operation before the reply to the last one"};
  dispatcher_.deployment_.services().add_operation();
  return verdict;
}

void Dispatcher::Standing::begin(ShortFrame&& frame) {
  begin_stage(dispatcher_.deployment_, stage, operation_of(std::move(frame)), Responder(*this));
}

/// Sends the reply to the request that is under way. First marks the request as ended, because the
/// next request may follow the reply immediately.
void Dispatcher::Standing::arrived(Outcome&& outcome) noexcept {
  {
    const runtime::Lock lock(dispatcher_.mutex_);
    dispatcher_.validator_.complete(admitted_);
    is_under_way_ = false;
  }
  if (outcome.failure || outcome.result.payload.size() > ShortFrame::payload_bytes_max) {
    dispatcher_.respond(connection_, request_, std::move(outcome));
  } else {
    ShortFrame reply;
    reply.is_reply = true;
    reply.standing = static_cast<std::uint32_t>(standing_of_call(request_.call));
    reply.result = std::move(outcome.result);
    dispatcher_.deployment_.connections().sender().reply(connection_, request_.operation.path,
                                                         std::move(reply));
  }
  dispatcher_.deployment_.services().remove_operation();
}

/// Registers the standing call of a request. Returns false if a different standing call of the
/// connection already has its number.
/// Requires: mutex_ held.
bool Dispatcher::stand(ConnectionId connection, const Frame& request) {
  const std::uint64_t key = key_of(connection, standing_of_call(request.call));
  if (const auto known = standing_.find(key); known != standing_.end())
    return known->second->is_of(request);
  standing_.emplace(
      key, std::make_unique<Standing>(*this, connection, request, validator_.standing_of(request)));
  return true;
}

void Dispatcher::run(ConnectionId connection, ShortFrame&& frame) {
  using Verdict = Validator::Verdict;
  runtime::Lock lock(mutex_);
  const auto known = frame.standing < standing_max
                         ? standing_.find(key_of(connection, frame.standing))
                         : standing_.end();
  if (known == standing_.end()) {
    lock.unlock();
    return deployment_.connections().liveness().refuse(
        connection, fmt::format("standing call {}, which has not begun", frame.standing));
  }
  Standing& standing = *known->second;
  if (standing.admit(frame)) {
    lock.unlock();
    return standing.begin(std::move(frame));
  }
  const Verdict verdict = standing.validate(frame);
  lock.unlock();
  if (verdict.kind == Verdict::Kind::wrong)
    return deployment_.connections().liveness().refuse(connection, verdict.reason);
  if (standing.stage.needs_context) return run(connection, standing.whole(std::move(frame)));
  if (verdict.kind == Verdict::Kind::late)
    return decline(connection, standing.whole(std::move(frame)));
  standing.begin(std::move(frame));
}

}  // namespace paths
