// SPDX-License-Identifier: Apache-2.0
// paths/wire/connection.hpp — what a host knows of one connection: credits, calls under way, what
// is held.
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "paths/wire/connections.hpp"

namespace paths {

struct Connections::Call {
  std::uint32_t to_host = 0;
  std::uint32_t path = 0;
  base::Payload moved;  // which an answer may bring back
  runtime::Deadline deadline;
  Connection* connection = nullptr;
  std::uint64_t number = 0;
  bool is_held = true;  // behind pushes that wait for credits
  std::optional<Outcome> answered;
  std::string lost;
  runtime::WaitList waiting;
  Begun* begun = nullptr;      // of a caller without a context
  bool lacks_credits() const;  // and nothing else
};

/// A call of an operation that has no context.
struct Connections::Begun final : runtime::Told {
  explicit Begun(Connections& of) : connections(of) {}
  void told() noexcept override { connections.end(*this); }
  Connections& connections;
  Call call;
  bool is_told = false;
  bool is_late = false;
  Ascent ascent;
};

struct Connections::Connection {
  ConnectionId id = 0;
  std::uint32_t peer = 0;
  bool is_ours = false;           // we connected
  bool is_welcome = false;        // and were welcomed
  bool is_heard = false;          // since the last look
  bool is_parting = false;        // our goodbye is still to be sent, behind what is held
  bool has_said_goodbye = false;  // we have
  bool has_parted = false;        // the peer has
  bool known = false;             // we connected, or the peer said hello and was welcomed
  StageId key = no_stage;         // key_of() the stages it leads to
  std::string lost;               // why, when it is
  std::int64_t credits = window;  // less than none: requests do not wait for them
  std::uint32_t to_give_back = 0;
  std::uint64_t next_call = 0;
  using Calls = std::unordered_map<std::uint64_t, Call*>;
  Calls calls;
  std::vector<Calls::node_type> spare_calls;  // so that a call takes no memory
  std::set<std::uint64_t> given_up;           // calls that left and may still be answered
  std::deque<Frame> held;  // pushes that wait for credits, and what must not overtake them

  void begin(Call& call) {
    call.connection = this;
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
  void end(const Call& call) {
    if (auto node = calls.extract(call.number)) spare_calls.push_back(std::move(node));
  }

  /// The last one of the same thread's same path, or the end.
  auto last_held_like(const Frame& frame) {
    return std::find_if(held.rbegin(), held.rend(), [&frame](const Frame& other) {
      return other.stage == frame.stage && other.operation.path == frame.operation.path &&
             other.operation.thread == frame.operation.thread;
    });
  }
  bool holds_like(const Frame& frame) { return last_held_like(frame) != held.rend(); }
  /// For another push, which then waits not only for the welcome.
  bool has_no_room() const { return is_welcome || held.size() >= window; }
};

inline bool Connections::Call::lacks_credits() const { return is_held && connection->is_welcome; }

}  // namespace paths
