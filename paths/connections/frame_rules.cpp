// SPDX-License-Identifier: Apache-2.0
// paths/connections/frame_rules.cpp — checks of incoming frames and the texts of their errors
#include "paths/connections/frame_rules.hpp"

#include <fmt/format.h>

namespace paths {

std::string FrameRules::wrong(Connection& connection, const Frame& frame) const {
  if (frame.kind == FrameKind::refuse) return wrong_refusal(connection, frame);
  if (!connection.known)
    return frame.kind == FrameKind::hello ? std::string() : "a frame before its hello";
  const std::string& peer = table_.name_of(connection.peer);
  if (frame.version != protocol_version)
    return fmt::format("protocol version {} on a connection of version {}", frame.version,
                       protocol_version);
  const base::Digest theirs{frame.run_high, frame.run_low};
  // The text does not contain the ids of the runs, because they are secret.
  if (!(theirs == table_.peers().run)) return "a frame of another run";
  if (frame.from_host != connection.peer)
    return fmt::format("a frame of host number {} in place of host {}", frame.from_host, peer);
  return connection.is_ours ? wrong_from_us(connection, frame) : wrong_to_us(connection, frame);
}

/// Checks a refusal. Before the peer's welcome, the refusal may come from a host of a different
/// version or run, which sends only a RefusalWord. After the welcome, it must be of this version
/// and run. The check ignores Frame::from_host, because a refusal for an ended deployment contains
/// the sender's number in the run instead of its number in the plan.
std::string FrameRules::wrong_refusal(const Connection& connection, const Frame& refusal) const {
  if (!connection.known) return {};
  const bool is_of_stranger = refusal.version != protocol_version || word_of_refusal(refusal);
  if (is_of_stranger && connection.is_ours && !connection.is_welcome) return {};
  if (refusal.version != protocol_version)
    return fmt::format("protocol version {} on a connection of version {}", refusal.version,
                       protocol_version);
  if (base::Digest{refusal.run_high, refusal.run_low} == table_.peers().run) return {};
  return "a refusal of another run";
}

std::string FrameRules::refusal_text(const Connection& connection, const Frame& refusal) const {
  if (!connection.known) return refusal.text;
  const std::string plan = fmt::format("{} {}", table_.call().label.empty() ? "config" : "plan",
                                       table_.peers().digest.text());
  return text_of_refusal(table_.name_of(connection.peer), plan, refusal);
}

/// Checks a frame on a connection that this host made. Operations, hellos and frames of lanes are
/// invalid on such a connection.
std::string FrameRules::wrong_from_us(Connection& connection, const Frame& frame) const {
  const std::int64_t used = connection.credits.used();
  if (frame.credits > used) return fmt::format("{} credits of {}", frame.credits, used);
  switch (frame.kind) {
    case FrameKind::reply:
    case FrameKind::error: break;
    case FrameKind::goodbye:
      return connection.has_said_goodbye || !connection.has_calls()
                 ? ""
                 : "a goodbye that was not requested";
    case FrameKind::welcome: return wrong_call(connection.peer, frame);
    case FrameKind::hello:
    case FrameKind::request:
    case FrameKind::one_way: return "an operation in place of a reply";
    case FrameKind::lane: return "a lane's frame in place of a reply";
    default: return {};
  }
  return wrong_reply(connection, frame.call, frame.result);
}

std::string FrameRules::wrong_reply(Connection& connection, std::uint64_t number,
                                    const Result& result) const {
  if (result.origin.cluster >= table_.peers().clusters)
    return fmt::format("cluster {} of {}", result.origin.cluster, table_.peers().clusters);
  if (result.origin.nanos < 0 || result.origin.nanos > base::time_max.count())
    return fmt::format("a wait of {} ns", result.origin.nanos);
  const PendingCall* const call = connection.call_of(number);
  const bool is_awaited =
      call != nullptr ? !call->is_held && !call->answered : connection.may_answer_given_up(number);
  if (is_awaited) return {};
  return is_of_standing(number)
             ? fmt::format("a reply to standing call {}, which does not wait for one",
                           standing_of_call(number))
             : fmt::format("a reply to call {}, which does not wait for one", number);
}

std::string FrameRules::wrong(Connection& connection, const ShortFrame& frame) const {
  if (!connection.known) return "a frame before its hello";
  if (frame.is_reply != connection.is_ours)
    return frame.is_reply ? "a reply in place of an operation" : "an operation in place of a reply";
  if (frame.is_reply)
    return wrong_reply(connection, call_of_standing(frame.standing), frame.result);
  if (connection.has_closed) return "a frame after its goodbye";
  return {};
}

/// Checks a frame that follows the hello on a connection that the peer made. Only operations, a
/// goodbye, heartbeats and frames of the kind `credits` are valid on such a connection.
std::string FrameRules::wrong_to_us(const Connection& connection, const Frame& frame) const {
  if (frame.credits != 0) return fmt::format("{} credits of 0", frame.credits);
  if (frame.kind == FrameKind::heartbeat || frame.kind == FrameKind::credits)
    return {};  // always valid: such a frame only shows that the peer is alive
  if (connection.has_closed) return "a frame after its goodbye";
  switch (frame.kind) {
    case FrameKind::request:
    case FrameKind::one_way: break;
    case FrameKind::goodbye: return {};
    case FrameKind::hello: return "a second hello";
    default: return "a reply in place of an operation";
  }
  if (frame.kind == FrameKind::request && is_of_standing(frame.call) &&
      standing_of_call(frame.call) >= standing_max)
    return fmt::format("standing call {} of {}", standing_of_call(frame.call), standing_max);
  if (connection_key(table_.peers(), frame.stage) == connection.key) return {};
  return fmt::format("stage {} on the connection to stage {}", frame.stage, connection.key);
}

/// Checks that both hosts call deploy() with the same plan. `greeting` is the peer's hello or
/// welcome. This check must precede the use of other fields of `greeting`.
std::string FrameRules::wrong_plan(const std::string& peer, const Frame& greeting) const {
  const std::string& here = table_.name();
  const DeploymentId* theirs = greeting.deployment.get();
  if (theirs == nullptr)
    return fmt::format("host {} does not name the deployment that it makes", peer);
  if (theirs->plan == table_.peers().digest) return {};
  if (table_.call().label.empty())
    return fmt::format("host {} runs config {}, host {} config {}", peer, theirs->plan.text(), here,
                       table_.peers().digest.text());
  return fmt::format("host {} makes deployment '{}' of plan {}, host {} of plan {}", peer,
                     table_.call().label, theirs->plan.text(), here, table_.peers().digest.text());
}

/// Checks that a welcome names the same call of deploy() as the hello of this host.
std::string FrameRules::wrong_call(std::uint32_t host, const Frame& welcome) const {
  const std::string& peer = table_.name_of(host);
  if (std::string wrong = wrong_plan(peer, welcome); !wrong.empty()) return wrong;
  const DeploymentId& theirs = *welcome.deployment;
  if (theirs.label != table_.call().label || theirs.number != table_.call().number)
    return fmt::format("a welcome to number {} of deployment '{}'", theirs.number, theirs.label);
  return {};
}

Rejection FrameRules::wrong_greeting(const Frame& hello) const {
  if (std::string wrong = wrong_plan(hello.text, hello); !wrong.empty())
    return {RefusalWord::plan, std::move(wrong)};
  return {RefusalWord::place, wrong_place(hello)};
}

std::string FrameRules::wrong_place(const Frame& hello) const {
  const std::string& here = table_.name();
  if (hello.from_host >= table_.peers().hosts.size())
    return fmt::format("host {} has no place in config {}", hello.text,
                       hello.deployment->plan.text());
  if (hello.text != table_.name_of(hello.from_host))
    return fmt::format("host {} says that it is host {}", hello.text,
                       table_.name_of(hello.from_host));
  const PeerTable::Peer* const peer = peer_table_.find(hello.from_host);
  if (peer == nullptr || !peer->comes_on.contains(hello.stage))
    return fmt::format("host {} has no path into host {} at stage {}", hello.text, here,
                       hello.stage);
  if (peer->has_departed)
    return fmt::format("host {} is back, but host {} goes on without it: {}", hello.text, here,
                       peer->why);
  if (peer->comes_on.at(hello.stage))
    return fmt::format("host {} is connected to host {} already: was it started twice?", hello.text,
                       here);
  return {};
}

}  // namespace paths
