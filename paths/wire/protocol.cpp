// SPDX-License-Identifier: Apache-2.0
// paths/wire/protocol.cpp — what peers may send, and what becomes of those that send something
// else.
#include <fmt/format.h>

#include "paths/wire/connection.hpp"

namespace paths {

/// What is wrong with a frame on a connection; empty when nothing is. What its operation may do is
/// for whoever serves it.
std::string Connections::wrong(Connection& connection, const Frame& frame) const {
  if (frame.kind == FrameKind::refuse) return {};
  if (!connection.known)
    return frame.kind == FrameKind::hello ? std::string() : "a frame before its hello";
  const std::string& peer = peers_->hosts[connection.peer].name;
  if (frame.version != protocol_version)
    return fmt::format("protocol version {} on a connection of version {}", frame.version,
                       protocol_version);
  const base::Digest theirs{frame.run_high, frame.run_low};
  if (!(theirs == peers_->run))
    return fmt::format("run {}, not run {}", theirs.text(), peers_->run.text());
  if (frame.from_host != connection.peer)
    return fmt::format("a frame of host number {} in place of host {}", frame.from_host, peer);
  return connection.is_ours ? wrong_from_us(connection, frame) : wrong_to_us(connection, frame);
}

/// On a connection we made: answers, and only to what was asked.
std::string Connections::wrong_from_us(Connection& connection, const Frame& frame) const {
  const std::int64_t used = window - connection.credits;
  if (frame.credits > used) return fmt::format("{} credits of {}", frame.credits, used);
  switch (frame.kind) {
    case FrameKind::reply:
    case FrameKind::error: break;
    case FrameKind::goodbye:
      return connection.has_said_goodbye || !connection.has_calls() ? "" : "a goodbye unasked";
    case FrameKind::welcome: return wrong_call(connection.peer, frame);
    case FrameKind::hello:
    case FrameKind::request:
    case FrameKind::one_way: return "an operation in place of an answer";
    case FrameKind::lane: return "a lane's frame in place of an answer";
    default: return {};
  }
  return wrong_reply(connection, frame.call, frame.result);
}

std::string Connections::wrong_reply(Connection& connection, std::uint64_t number,
                                     const Result& result) const {
  if (result.origin.cluster >= peers_->clusters)
    return fmt::format("cluster {} of {}", result.origin.cluster, peers_->clusters);
  if (result.origin.nanos < 0 || result.origin.nanos > base::time_max.count())
    return fmt::format("a wait of {} ns", result.origin.nanos);
  const Call* const call = connection.call_of(number);
  const bool is_awaited =
      call != nullptr ? !call->is_held && !call->answered : connection.may_answer_given_up(number);
  if (is_awaited) return {};
  return is_of_standing(number)
             ? fmt::format("a reply to standing call {}, which does not wait for one",
                           standing_of_call(number))
             : fmt::format("a reply to call {}, which does not wait for one", number);
}

/// What its operation may do is for whoever serves it.
std::string Connections::wrong(Connection& connection, const ShortFrame& frame) const {
  if (!connection.known) return "a frame before its hello";
  if (frame.is_reply != connection.is_ours)
    return frame.is_reply ? "an answer in place of an operation"
                          : "an operation in place of an answer";
  if (frame.is_reply)
    return wrong_reply(connection, call_of_standing(frame.standing), frame.result);
  if (connection.has_parted) return "a frame after its goodbye";
  return {};
}

/// On a connection the peer made: a hello, operations, a goodbye.
std::string Connections::wrong_to_us(const Connection& connection, const Frame& frame) const {
  if (frame.credits != 0) return fmt::format("{} credits of 0", frame.credits);
  if (frame.kind == FrameKind::heartbeat || frame.kind == FrameKind::credits) return {};  // of life
  if (connection.has_parted) return "a frame after its goodbye";
  switch (frame.kind) {
    case FrameKind::request:
    case FrameKind::one_way: break;
    case FrameKind::goodbye: return {};
    case FrameKind::hello: return "a second hello";
    default: return "an answer in place of an operation";
  }
  if (frame.kind == FrameKind::request && is_of_standing(frame.call) &&
      standing_of_call(frame.call) >= standing_max)
    return fmt::format("standing call {} of {}", standing_of_call(frame.call), standing_max);
  if (key_of(frame.stage) == connection.key) return {};
  return fmt::format("stage {} on the connection to stage {}", frame.stage, connection.key);
}

/// Both hosts' calls must be of one plan before anything else counts.
std::string Connections::wrong_plan(const std::string& peer, const Frame& greeting) const {
  const std::string& here = peers_->hosts[host_].name;
  const WiringCall* theirs = greeting.wiring.get();
  if (theirs == nullptr) return fmt::format("host {} does not say which wiring it makes", peer);
  if (theirs->plan == peers_->digest) return {};
  if (call_->label.empty())
    return fmt::format("host {} runs config {}, host {} config {}", peer, theirs->plan.text(), here,
                       peers_->digest.text());
  return fmt::format("host {} makes wiring '{}' of plan {}, host {} of plan {}", peer, call_->label,
                     theirs->plan.text(), here, peers_->digest.text());
}

/// The answer to a hello of ours names the call that it belongs to, always the same one.
std::string Connections::wrong_call(std::uint32_t host, const Frame& welcome) const {
  const std::string& peer = peers_->hosts[host].name;
  if (std::string wrong = wrong_plan(peer, welcome); !wrong.empty()) return wrong;
  const WiringCall& theirs = *welcome.wiring;
  if (theirs.label != call_->label || theirs.number != call_->number)
    return fmt::format("a welcome to number {} of wiring '{}'", theirs.number, theirs.label);
  const auto known = met_.find(host);
  if (known == met_.end() || !known->second.is_another(theirs)) return {};
  return "a welcome of another start of it: wired anew";
}

std::string Connections::wrong_greeting(const Frame& hello) const {
  const std::string& here = peers_->hosts[host_].name;
  if (std::string wrong = wrong_plan(hello.text, hello); !wrong.empty()) return wrong;
  if (hello.from_host >= peers_->hosts.size())
    return fmt::format("host {} has no place in config {}", hello.text, hello.wiring->plan.text());
  if (hello.text != peers_->hosts[hello.from_host].name)
    return fmt::format("host {} says that it is host {}", hello.text,
                       peers_->hosts[hello.from_host].name);
  const auto peer = met_.find(hello.from_host);
  if (peer == met_.end() || !peer->second.comes_on.contains(hello.stage))
    return fmt::format("host {} has no path into host {} at stage {}", hello.text, here,
                       hello.stage);
  if (peer->second.departed)
    return fmt::format("host {} is back, but host {} goes on without it: {}", hello.text, here,
                       peer->second.why);
  if (peer->second.comes_on.at(hello.stage))
    return fmt::format("host {} is connected to host {} already: was it started twice?", hello.text,
                       here);
  return {};
}

/// True when its host is gone with that.
bool Connections::greet(Connection& connection, const Frame& hello, runtime::Wakes& wakes) {
  if (const std::string wrong = wrong_greeting(hello); !wrong.empty()) {
    if (const auto named = peers_->named(hello.text)) met_[*named].refused = wrong;
    if (!is_wired_) fail(wrong, wakes);
    turn_away(connection, wrong, wakes);
    return false;
  }
  connection.peer = hello.from_host;
  Peer& peer = met_[hello.from_host];
  if (peer.is_another(*hello.wiring)) {
    const std::string wrong =
        fmt::format("host {} was started again: wired anew", peers_->hosts[connection.peer].name);
    turn_away(connection, wrong, wakes);
    return forsake(connection.peer, Which::all, wrong, wakes);
  }
  peer.incarnation = hello.wiring->incarnation;
  connection.key = hello.stage;
  connection.known = true;
  peer.comes_on[hello.stage] = true;
  ++peer.greeted_on;
  meeting_.wake_all(wakes);
  post(connection, frame_of(FrameKind::welcome));
  return false;
}

/// A stranger, or one that differs: nothing it did counts.
void Connections::turn_away(Connection& connection, const std::string& wrong,
                            runtime::Wakes& wakes) {
  complaints_.tell(transport_->source(connection.id), "refused: " + wrong);
  Frame refusal = frame_of(FrameKind::refuse);
  refusal.text = wrong;
  post(connection, std::move(refusal));
  lose(connection, wrong, wakes);
}

/// Called with the mutex held. A host of the plan, of which nothing is believed any more, on none
/// of its connections; true once for each.
bool Connections::refuse(Connection& connection, const std::string& wrong, runtime::Wakes& wakes) {
  const std::uint32_t peer = connection.peer;
  const std::string reason =
      fmt::format("host {} refuses host {}: it sent {}", peers_->hosts[host_].name,
                  peers_->hosts[peer].name, wrong);
  for (auto& [id, other] : connections_) {
    if (!other->known || other->peer != peer || !other->lost.empty()) continue;
    Frame refusal = frame_of(FrameKind::refuse);
    refusal.text = reason;
    post(*other, std::move(refusal));
  }
  return forsake(peer, Which::all, reason, wakes);
}

void Connections::refuse(ConnectionId id, const std::string& wrong) {
  std::uint32_t peer = 0;
  std::string reason;
  {
    runtime::Wakes wakes;
    runtime::Lock lock(mutex_);
    Connection* connection = find(id);
    if (connection == nullptr || !connection->lost.empty()) return;
    peer = connection->peer;
    if (!refuse(*connection, wrong, wakes)) return;
    reason = connection->lost;
  }
  send_posted();
  tell_gone(peer, reason, false);
}

TravelError Connections::refuse_answer(std::uint32_t host, StageId stage, std::uint32_t path,
                                       const std::string& wrong) {
  Connection* connection = nullptr;
  {
    runtime::Lock lock(mutex_);
    connection = &connection_to(host, stage);  // ours stay
  }
  refuse(connection->id, wrong);
  runtime::Lock lock(mutex_);
  return gone(*connection, path);
}

}  // namespace paths
