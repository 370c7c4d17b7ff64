// SPDX-License-Identifier: Apache-2.0
// paths/connections/connection.hpp — state of one connection: credits, pending calls, held frames
#pragma once
#include <algorithm>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "paths/connections/credit_window.hpp"
#include "paths/responder.hpp"
#include "paths/wire/frame.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/continuation.hpp"
#include "runtime/wait.hpp"

namespace paths {

class Connections;
class Requests;
struct AsynchronousCall;
struct Connection;

/// A request whose caller waits for a reply.
struct PendingCall {
  std::uint32_t path = 0;
  base::Payload moved;        // payload of the request; set if the reply may omit an equal tuple
  base::Nanos until{0};       // deadline of the operation
  base::Nanos reply_time{0};  // time after `until` in which the reply may still arrive
  Connection* connection = nullptr;
  std::uint64_t number = 0;
  bool is_held = true;  // whether the request has not been sent yet
  std::optional<Outcome> answered;
  std::string lost;
  runtime::WaitList waiting;
  AsynchronousCall* asynchronous = nullptr;  // nullptr if a thread or fiber waits

  bool lacks_credits() const;  // whether the request is held although the welcome has arrived
  /// Wakes the caller. This function is called after the reply has arrived, after the connection
  /// was lost, or after the held request was sent.
  /// Requires: the mutex of the connection's table is held.
  void tell(runtime::DeferredWakes& wakes);
};

/// A call for which no thread or fiber waits. The operation that made the call continues when the
/// reply has arrived.
struct AsynchronousCall final : runtime::Waiter, runtime::Continuation {
  explicit AsynchronousCall(Requests& of) : requests(of) {}
  void notify() noexcept override;
  void resume() noexcept override;
  Requests& requests;
  PendingCall call;
  bool is_notified = false;
  bool is_late = false;
  Responder responder;
};

inline void PendingCall::tell(runtime::DeferredWakes& wakes) {
  waiting.wake_all(wakes);
  const bool is_over = answered || !lost.empty();
  if (asynchronous != nullptr && is_over && !std::exchange(asynchronous->is_notified, true))
    wakes.notify(*asynchronous);
}

/// State of a standing call (paths/wire/short_frame.hpp) on the host that makes the call.
struct StandingCall {
  StageId stage = no_stage;
  std::uint32_t path = 0;
  std::uint32_t slot = 0;
  bool is_known = false;        // whether a full request was sent, so that the peer knows this call
  PendingCall* call = nullptr;  // the current call; nullptr if none is under way
  bool is_given_up = false;     // whether the caller stopped waiting; the reply may still arrive
  bool is_free() const { return call == nullptr && !is_given_up; }
};

/// Receiver of a connection's short frames. After the connection is destroyed, deliver() returns
/// false.
class ConnectionEnd final : public ShortEnd {
 public:
  ConnectionEnd(Connections& connections, Connection& connection)
      : connections_(connections), connection_(&connection) {}
  bool deliver(ShortFrame&& frame) override;
  /// Detaches this object from its connection, which is about to be destroyed.
  /// Requires: the mutex of the connections is held.
  void let_go() { connection_ = nullptr; }

 private:
  Connections& connections_;
  Connection* connection_;
};

/// One connection of a host, made by this host or by the peer.
///
/// Thread-safe: guarded by the mutex of its table.
struct Connection {
  ~Connection() {
    if (short_end) short_end->let_go();
  }
  ConnectionId id = 0;
  std::uint32_t peer = 0;
  bool is_ours = false;      // whether this host made the connection
  bool is_welcome = false;   // whether the peer has replied to this host's hello with a welcome
  bool is_sent = false;      // whether a frame has left since the last check of liveness
  bool is_received = false;  // whether a frame has arrived since the last check of liveness
  bool is_parting = false;   // whether this host sends its goodbye after the held frames
  bool has_said_goodbye = false;  // whether this host has sent its goodbye
  bool has_closed = false;        // whether the peer has sent its goodbye
  bool known = false;             // whether this host made the connection or accepted its hello
  StageId key = no_stage;         // connection_key() of the stages that use the connection
  std::string lost;               // reason of the loss; "" while connected
  // Object that sends this host's short frames; nullptr if the transport has no short frames. Also
  // nullptr if the peer made the connection and this host has not sent a short reply yet.
  std::shared_ptr<ShortWay> short_way;
  std::shared_ptr<ConnectionEnd> short_end;  // created on demand by Connections::short_end()
  CreditWindow credits;
  std::uint64_t next_call = 0;
  using Calls = std::unordered_map<std::uint64_t, PendingCall*>;
  Calls calls;                                // pending calls, except standing calls
  std::vector<Calls::node_type> spare_calls;  // unused nodes of `calls`, kept for reuse
  // Calls whose caller stopped waiting but whose reply may still arrive.
  std::set<std::uint64_t> given_up;
  std::vector<StandingCall> standing;
  /// Requests and pushes that must not leave yet. They wait for the welcome, for credits, or for
  /// earlier frames that they must not overtake. The type is a list, because an empty deque would
  /// take half a kilobyte per connection.
  std::list<Frame> held;

  bool may_bring_operations() const { return known && !is_ours && !has_closed; }
  /// Returns an unused standing call for the operation. Creates the standing call if needed.
  /// Returns nullptr if the operation needs an ordinary call.
  StandingCall* standing_for(StageId stage, const Operation& operation) {
    if (!short_way || operation.kind != OperationKind::move || operation.failure ||
        operation.segments != 1 || operation.payload.size() > ShortFrame::payload_bytes_max)
      return nullptr;
    for (StandingCall& one : standing)
      if (one.stage == stage && one.path == operation.path && one.slot == operation.slot)
        return one.is_free() ? &one : nullptr;
    if (standing.size() == standing_max) return nullptr;
    return &standing.emplace_back(StandingCall{stage, operation.path, operation.slot});
  }
  std::uint32_t number_of(const StandingCall& one) const {
    return static_cast<std::uint32_t>(&one - standing.data());
  }
  /// Returns the standing call to which a frame's call number belongs; nullptr if there is none.
  StandingCall* standing_of(std::uint64_t call) {
    return is_of_standing(call) && standing_of_call(call) < standing.size()
               ? &standing[standing_of_call(call)]
               : nullptr;
  }

  /// Turns standing calls into ordinary calls. This function is called when the welcome arrives, if
  /// the transport carries no short frames on this connection. At that time no request has been
  /// sent yet, because all requests wait for the welcome.
  void forget_standing() {
    short_way = nullptr;
    for (const StandingCall& one : standing) {
      if (one.call == nullptr) continue;
      const std::uint64_t before = std::exchange(one.call->number, next_call++);
      calls.emplace(one.call->number, one.call);
      for (Frame& frame : held)
        if (frame.call == before) frame.call = one.call->number;
    }
    standing.clear();
  }

  void begin(PendingCall& call, StandingCall* of) {
    call.connection = this;
    if (of != nullptr) {
      of->call = &call;
      call.number = call_of_standing(number_of(*of));
      return;
    }
    call.number = next_call++;
    if (spare_calls.empty()) {
      calls.emplace(call.number, &call);
      return;
    }
    Calls::node_type node = std::move(spare_calls.back());
    spare_calls.pop_back();
    node.key() = call.number;
    node.mapped() = &call;
    calls.insert(std::move(node));
  }
  /// Removes a call after its reply has arrived, or after its caller stopped waiting.
  void end(const PendingCall& call) {
    const bool may_be_answered = !call.is_held && !call.answered;
    if (StandingCall* const of = standing_of(call.number)) {
      of->call = nullptr;
      of->is_given_up = may_be_answered;
      return;
    }
    if (auto node = calls.extract(call.number)) spare_calls.push_back(std::move(node));
    if (may_be_answered) given_up.insert(call.number);
  }
  /// Returns the pending call with that number; nullptr if there is none.
  PendingCall* call_of(std::uint64_t number) {
    if (is_of_standing(number)) {
      const StandingCall* const of = standing_of(number);
      return of != nullptr ? of->call : nullptr;
    }
    const auto found = calls.find(number);
    return found != calls.end() ? found->second : nullptr;
  }
  /// Returns whether the caller of the call `number` stopped waiting, and the reply may still
  /// arrive.
  bool may_answer_given_up(std::uint64_t number) {
    const StandingCall* const of = standing_of(number);
    return of != nullptr ? of->is_given_up : given_up.contains(number);
  }
  /// Notes the reply to a call whose caller stopped waiting. Returns false if there is no such
  /// call.
  bool answer_given_up(std::uint64_t number) {
    StandingCall* const of = standing_of(number);
    return of != nullptr ? std::exchange(of->is_given_up, false) : given_up.erase(number) > 0;
  }
  template <class Act>
  void each_call(Act act) {
    for (const auto& [number, call] : calls) act(*call);
    for (const StandingCall& one : standing)
      if (one.call != nullptr) act(*one.call);
  }
  bool has_calls() {
    bool has = false;
    each_call([&has](const PendingCall&) { has = true; });
    return has;
  }

  /// Returns the last held frame with the same thread, path and stage as `frame`; held.rend() if
  /// there is none.
  auto last_held_like(const Frame& frame) {
    return std::find_if(held.rbegin(), held.rend(), [&frame](const Frame& other) {
      return other.stage == frame.stage && other.operation.path == frame.operation.path &&
             other.operation.thread == frame.operation.thread;
    });
  }
  bool holds_like(const Frame& frame) { return last_held_like(frame) != held.rend(); }
  /// Returns whether a new push may replace a held push: after the peer's welcome, or if the list
  /// of held frames is full.
  bool has_no_room() const { return is_welcome || held.size() >= CreditWindow::size; }
};

inline bool PendingCall::lacks_credits() const { return is_held && connection->is_welcome; }

}  // namespace paths
