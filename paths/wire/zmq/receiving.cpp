// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/receiving.cpp — receiving of frames from sockets, and detection of lost peers
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "paths/wire/address.hpp"
#include "paths/wire/refusal.hpp"
#include "paths/wire/zmq/codec.hpp"
#include "paths/wire/zmq/sockets.hpp"

namespace paths {

namespace {

constexpr int messages_in_a_row = 256;  // maximum number of received messages before fibers run

// Number of failed handshakes on a connection after which this host logs that the process at the
// address has the wrong key.
constexpr int handshakes_failed_max = 3;

struct SocketEvent {
  std::uint16_t kind = 0;
  int value = -1;  // descriptor or error code, depending on `kind`
};

std::optional<SocketEvent> next_event(zmq::socket_t& monitor) {
  zmq::message_t event, address;
  std::vector<zmq::message_t> none;
  if (receive_all(monitor, {&event, &address}, none) == 0) return std::nullopt;
  ENSURE_EQ(event.size(), 6u);
  SocketEvent read;
  std::uint32_t value;
  std::memcpy(&read.kind, event.data(), sizeof read.kind);
  std::memcpy(&value, event.data<char>() + sizeof read.kind, sizeof value);
  read.value = static_cast<int>(value);
  return read;
}

/// Returns a log text about the reason why ZeroMQ rejected a peer that connected to this host.
std::string handshake_failure(const SocketEvent& event) {
  if (event.kind == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)
    return "turned away: its key is not one of this run";
  if (event.kind == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL) {
    if (event.value == ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC)
      return "turned away: it does not have the key of this host";
    if (event.value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH)
      return "turned away: it has another `security` than this host";
  }
  return "turned away: it does not speak ZMTP 3";
}

/// Returns an error text about the reason why this host can never connect to `host` at `address`.
std::string handshake_refusal(const SocketEvent& event, const std::string& address,
                              const std::string& host) {
  if (event.kind == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)
    return fmt::format("host {} at {} does not accept the key of this host", host, address);
  if (event.value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH)
    return fmt::format("the process that listens at {} has another `security` than this host",
                       address);
  return fmt::format("the process that listens at {} does not speak the protocol of host {}",
                     address, host);
}

/// Returns an error text if the host name in the first frame of a connection contradicts the key of
/// the peer; "" otherwise.
std::string wrong_name(const Peers& peers, const Incoming& peer, const Frame& first) {
  if (peer.key_owner.empty()) return "";
  const auto claimed = peers.named(first.text);
  if (claimed && peers.hosts[*claimed].key_owner == peer.key_owner) return "";
  return fmt::format("it has the key of host {}, but says that it is '{}'", peer.key_owner,
                     first.text);
}

/// Takes a message of a peer: its header, and the parts `rest` that follow. Returns the frame that
/// the message completes; nullopt if the frame is still incomplete.
std::optional<Frame> assemble(SocketPeer& peer, const zmq::message_t& header,
                              std::span<zmq::message_t> rest, Receiver& receiver) {
  return peer.frames.take(header, rest, [&peer, &receiver](const Frame& head) {
    return receiver.body_bytes_max(peer.id, head);
  });
}

}  // namespace

void Sockets::receive_from(Outgoing& peer) {
  peer.look_again = false;
  for (int i = 0; i < messages_in_a_row; ++i) {
    if (peer.lost || receiver_ == nullptr) return;
    zmq::message_t header;
    if (receive_all(peer.dealer, {&header}, rest_) == 0) return;
    auto frame = assemble(peer, header, rest_, *receiver_);
    if (const std::string& wrong = peer.frames.wrong(); !wrong.empty())
      return lose(peer, fmt::format("host {} replied {}", name_of(peer), wrong));
    if (frame) receiver_->deliver(peer.id, std::move(*frame));
  }
  receive_soon(peer);
}

void Sockets::receive_soon(Outgoing& peer) {
  if (std::exchange(peer.look_again, true)) return;
  receive_later([this, id = peer.id] {
    const auto found = outgoing_.find(id);
    if (found == outgoing_.end()) return;
    look_at_monitor(found->second);
    receive_from(found->second);
  });
}

void Sockets::receive_incoming() {
  if (receiver_ == nullptr) return;
  router_look_again_ = false;
  look_at_router_monitor();
  for (int i = 0; i < messages_in_a_row; ++i) {
    zmq::message_t routing_id, header;
    if (receive_all(router_, {&routing_id, &header}, rest_) == 0) return report_closed();
    Incoming* peer = incoming_of(routing_id, header);
    if (peer == nullptr || peer->lost) continue;
    auto frame = assemble(*peer, header, rest_, *receiver_);
    const bool is_first = frame && !std::exchange(peer->has_greeted, true);
    if (const std::string why = is_first ? wrong_name(*peers_, *peer, *frame) : ""; !why.empty()) {
      receiver_->turned_away(peer->source, "refused: " + why);
      transmit_to_peer(peer->id, routing_id.to_string(), refusal_of_stranger(RefusalWord::place));
      lose(*peer, why);
    } else if (frame) {
      receiver_->deliver(peer->id, std::move(*frame));
    } else if (const std::string& wrong = peer->frames.wrong(); !wrong.empty()) {
      receiver_->turned_away(peer->source, "ignored: " + wrong);
      lose(*peer, "it sent " + wrong);
    }
  }
  receive_incoming_soon();
}

void Sockets::receive_incoming_soon() {
  if (std::exchange(router_look_again_, true)) return;
  receive_later([this] { receive_incoming(); });
}

Incoming* Sockets::incoming_of(const zmq::message_t& routing_id, zmq::message_t& header) {
  std::string key = routing_id.to_string();
  if (const auto known = incoming_.find(key); known != incoming_.end()) return &known->second;
  const auto descriptor = property(header, "__fd");
  if (!descriptor) {
    receiver_->turned_away("", "ignored: a message that does not name its connection");
    return nullptr;
  }
  Incoming& peer = incoming_[key];
  peer.id = next_connection_++;
  peer.part_bytes = router_part_bytes_;
  peer.source = property(header, "Peer-Address").value_or("");
  peer.key_owner = property(header, "User-Id").value_or("");
  // Reads ZeroMQ's report of the new connection, which ZeroMQ sends before the first frame of the
  // connection. A second connection may already have the same descriptor, if the new connection was
  // closed in the meantime. `count` then includes the second connection, and the loss of the new
  // connection is noticed only when the second connection closes. No loss is ever reported for a
  // connection that still lives.
  look_at_router_monitor();
  peer.acceptance.first = std::stoi(*descriptor);
  descriptors_.note(peer.id, peer.acceptance.first);
  peer.acceptance.second = accepted_[peer.acceptance.first].count;
  half_open_.remove(peer.acceptance.first);
  accepted_as_.emplace(peer.acceptance, key);
  routing_ids_.emplace(peer.id, std::move(key));
  return &peer;
}

std::string Sockets::source(ConnectionId connection) const {
  const auto known = routing_ids_.find(connection);
  return known == routing_ids_.end() ? std::string() : incoming_.at(known->second).source;
}

// ---- losses ----------------------------------------------------------------------------------

void Sockets::look_at_monitor(Outgoing& peer) {
  while (!peer.lost && receiver_ != nullptr) {
    const auto event = next_event(peer.monitor);
    if (!event) return;
    const std::string& address = peers_->hosts[peer.host].address;
    if (event->kind == ZMQ_EVENT_CONNECTED) {
      descriptors_.note(peer.id, event->value);
    } else if (event->kind == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
      peer.met = true;
    } else if (event->kind == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL) {
      // A CURVE server closes the connection if the client expects a different key. ZeroMQ then
      // retries without end. This host waits until the deadline, because the owner of the expected
      // key may still start.
      if (++peer.handshakes_failed == handshakes_failed_max && peers_->keyring != nullptr &&
          without_key_.insert(address).second)
        spdlog::warn("host {}: what listens at {} has not the key of {}", peers_->hosts[host_].name,
                     address, peers_->keyring->owner_text(peers_->hosts[peer.host].key_owner));
    } else if (event->kind != ZMQ_EVENT_DISCONNECTED) {
      return lose(peer, handshake_refusal(*event, address, name_of(peer)));
    } else if (peer.met) {
      while (!peer.lost && readable(peer.dealer)) receive_from(peer);
      return lose(peer, process_ended);
    }
  }
}

// Reads the events that ZeroMQ has reported for the router. One thread of ZeroMQ reports all events
// in order. The event of a failed handshake therefore belongs to the connection whose end is
// reported next.
void Sockets::look_at_router_monitor() {
  while (const auto event = next_event(router_monitor_)) {
    if (event->kind == ZMQ_EVENT_ACCEPTED) {
      Accepted& accepted = accepted_[event->value];
      ++accepted.count;
      accepted.source = address_of_peer(event->value);
      if (accepted.source.empty()) continue;  // Unix sockets need no limit: only this user connects
      if (const std::string closed = half_open_.add(event->value, accepted.source); !closed.empty())
        receiver_->turned_away(closed, "closed: too many connections that have sent no message");
    } else if (event->kind == ZMQ_EVENT_DISCONNECTED) {
      half_open_.remove(event->value);
      const Accepted& accepted = accepted_[event->value];
      closings_.emplace_back(event->value, accepted.count);
      if (const std::string why = std::exchange(handshake_failure_, {}); !why.empty())
        receiver_->turned_away(accepted.source, why);
    } else if (event->kind == ZMQ_EVENT_ACCEPT_FAILED) {
      if (std::exchange(accept_failed_, event->value) != event->value)
        receiver_->turned_away("", accept_failed_text(event->value));
    } else {
      handshake_failure_ = handshake_failure(*event);
    }
  }
}

// Reports the loss of closed connections.
// Requires: the router (the socket to which peers connect) has no more frames, so that all frames
//           of a peer are delivered before its loss is reported.
void Sockets::report_closed() {
  for (const Acceptance& closed : std::exchange(closings_, {})) {
    // The range is empty if the peer closed the connection before it sent a frame.
    const auto [first, last] = accepted_as_.equal_range(closed);
    for (auto one = first; one != last; ++one) {
      const auto found = incoming_.find(one->second);
      lose(found->second, process_ended);
      descriptors_.forget(found->second.id);
      routing_ids_.erase(found->second.id);
      incoming_.erase(found);
    }
    accepted_as_.erase(first, last);
  }
}

// Marks a connection as lost. The loss is reported later. If the peer has made the connection, the
// entry of the connection stays until the peer is gone, and further frames on it are ignored.
void Sockets::lose(SocketPeer& peer, std::string reason) {
  if (std::exchange(peer.lost, true)) return;
  peer.frames = {};
  receive_later([this, id = peer.id, reason = std::move(reason)] {
    forget(id);
    if (receiver_ != nullptr) receiver_->connection_lost(id, reason);
  });
}

}  // namespace paths
