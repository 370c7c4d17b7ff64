// SPDX-License-Identifier: Apache-2.0
// paths/host/requests/remote_calls.cpp — requests to other hosts, and refusal of wrong results.
#include "paths/host/requests/remote_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/errors.hpp"
#include "paths/host/deployment.hpp"
#include "paths/host/requests/dispatcher.hpp"
#include "runtime/continuation.hpp"

namespace paths {

/// Makes all connections now, because a peer waits until this host has made all of its connections
/// to the peer.
void RemoteCalls::connect() {
  Connections& connections = deployment_.connections();
  for (const Stage* exit : deployment_.instance().exits())
    connections.meet(deployment_.plan().host_of(exit->below_id), exit->below_id);
  connections.meet_others();
}

std::vector<std::uint32_t> RemoteCalls::peers() const {
  std::set<std::uint32_t> peers;
  for (const Stage* exit : deployment_.instance().exits())
    peers.insert(deployment_.plan().host_of(exit->below_id));
  return {peers.begin(), peers.end()};
}

/// Returns how long after the deadline of an operation this host still waits for the reply.
/// Why: each host waits longer than the hosts below it. A host below may know the missing
///      contributor. Its error then arrives before this host stops waiting.
base::Nanos RemoteCalls::reply_time(const Stage& exit) const {
  return deployment_.time_per_host() * std::min(exit.hosts_to_reply, 2 * HostView::hosts_max);
}

Result RemoteCalls::call_and_wait(std::uint32_t to_host, const Stage& exit, Operation&& operation) {
  const OperationHead asked = operation;
  Result answer = deployment_.connections().requests().call(to_host, exit.below_id,
                                                            std::move(operation), reply_time(exit));
  if (const Failure wrong = wrong_answer(to_host, exit.below_id, asked, answer))
    throw TravelError(*wrong);
  return answer;
}

void RemoteCalls::call(std::uint32_t to_host, const Stage& exit, Operation&& operation,
                       Responder& responder) {
  if (responder.owns_context())
    return responder.reply(call_and_wait(to_host, exit, std::move(operation)));
  begin_call(to_host, exit, std::move(operation), responder);
}

/// Begins a call. Not inlined into call(), because many fibers may wait in functions that call()
/// calls. The stack frame of call() should therefore be small.
[[gnu::noinline]] void RemoteCalls::begin_call(std::uint32_t to_host, const Stage& exit,
                                               Operation&& operation, Responder& responder) {
  const StageId stage = exit.below_id;
  const base::Nanos until = operation.until;
  responder.on_reply(
      [this, to_host, stage, asked = OperationHead(operation)](Responder up, Outcome&& outcome) {
        if (!outcome.failure) outcome.failure = wrong_answer(to_host, stage, asked, outcome.result);
        up.reply(std::move(outcome));
      });
  try {
    deployment_.connections().requests().begin_call(to_host, stage, std::move(operation),
                                                    reply_time(exit), responder);
  } catch (...) {
    responder.pop_state();
    throw;
  }
  // expect() must follow begin_call(), because the deadline monitor does not see calls that have
  // not begun.
  deployment_.expect(until);
}

void RemoteCalls::push(std::uint32_t to_host, StageId stage, Operation operation) {
  deployment_.connections().sender().push(to_host, stage, std::move(operation));
}

/// Checks a result that `host` has sent. If the plan does not allow the result, refuses the host
/// and returns a failure. Otherwise returns nullptr.
Failure RemoteCalls::wrong_answer(std::uint32_t host, StageId stage, const OperationHead& asked,
                                  const Result& answer) {
  const std::string wrong = deployment_.dispatcher().wrong_answer(stage, asked, answer);
  if (wrong.empty()) return nullptr;
  return std::make_shared<TravelError>(
      deployment_.connections().liveness().refuse_answer(host, stage, asked.path, wrong));
}

RemoteCalls::ClockReading RemoteCalls::read_clock(std::uint32_t peer) {
  // Several stages may lead to the peer. The stage with the lowest id is used, so that all readings
  // of the peer's clock use the same connection.
  const Stage* lowest = nullptr;
  for (const Stage* exit : deployment_.instance().exits())
    if (deployment_.plan().host_of(exit->below_id) == peer &&
        (lowest == nullptr || exit->below_id < lowest->below_id))
      lowest = exit;
  ENSURE(lowest != nullptr);
  Operation question;
  question.until = deployment_.operation_end();
  question.kind = OperationKind::clock;
  ClockReading reading;
  reading.asked = deployment_.runtime().now();
  const Result answer = call_and_wait(peer, *lowest, std::move(question));
  reading.answered = deployment_.runtime().now();
  if (answer.number > static_cast<std::uint64_t>(base::time_max.count()))
    throw TravelError(deployment_.name(), "", "",
                      fmt::format("host {} shows {} ns on its clock, which no clock can",
                                  deployment_.plan().hosts[peer].name, answer.number));
  reading.shown = base::Nanos(static_cast<std::int64_t>(answer.number));
  return reading;
}

}  // namespace paths
