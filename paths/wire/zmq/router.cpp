// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/router.cpp — acceptance, limits and ends of connections that peers make
#include "paths/wire/zmq/router.hpp"

#include "paths/wire/address.hpp"
#include "paths/wire/zmq/monitor.hpp"

namespace paths {

namespace {

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

}  // namespace

Incoming* Router::find(ConnectionId connection) {
  const auto known = by_id_.find(connection);
  return known == by_id_.end() ? nullptr : known->second;
}

const Incoming* Router::find(ConnectionId connection) const {
  const auto known = by_id_.find(connection);
  return known == by_id_.end() ? nullptr : known->second;
}

Incoming* Router::connection_of(const zmq::message_t& routing_id, zmq::message_t& header,
                                Receiver& receiver) {
  std::string key = routing_id.to_string();
  if (const auto known = peers_.find(key); known != peers_.end()) return &known->second;
  const auto descriptor = property(header, "__fd");
  if (!descriptor) {
    receiver.turned_away("", "ignored: a message that does not name its connection");
    return nullptr;
  }
  Incoming& peer = peers_[key];
  peer.routing_id = key;
  peer.id = next_connection_++;
  peer.part_bytes = part_bytes;
  peer.source = property(header, "Peer-Address").value_or("");
  peer.key_owner = property(header, "User-Id").value_or("");
  // Reads ZeroMQ's report of the new connection, which ZeroMQ sends before the first frame of the
  // connection. A second connection may already have the same descriptor, if the new connection was
  // closed in the meantime. `count` then includes the second connection, and the loss of the new
  // connection is noticed only when the second connection closes. No loss is ever reported for a
  // connection that still lives.
  read_events(receiver);
  peer.acceptance.first = std::stoi(*descriptor);
  descriptors_.note(peer.id, peer.acceptance.first);
  peer.acceptance.second = accepted_[peer.acceptance.first].count;
  half_open_.remove(peer.acceptance.first);
  // A peer without encryption may send a frame before read_events() has shut its connection down.
  peer.lost = !filter_.accepts(peer.source);
  accepted_as_.emplace(peer.acceptance, std::move(key));
  by_id_.emplace(peer.id, &peer);
  return &peer;
}

// One thread of ZeroMQ reports all events in order. The event of a failed handshake therefore
// belongs to the connection whose end is reported next.
void Router::read_events(Receiver& receiver) {
  while (const auto event = next_event(monitor)) {
    if (event->kind == ZMQ_EVENT_ACCEPTED) {
      Accepted& accepted = accepted_[event->value];
      ++accepted.count;
      accepted.source = address_of_peer(event->value);
      if (accepted.source.empty()) continue;  // Unix sockets need no limit: only this user connects
      if (!filter_.accepts(accepted.source)) {
        receiver.turned_away(accepted.source, refused_source);
        if (shut_down_from(event->value, accepted.source)) continue;
      }
      if (const std::string closed = half_open_.add(event->value, accepted.source); !closed.empty())
        receiver.turned_away(closed, "closed: too many connections that have sent no message");
    } else if (event->kind == ZMQ_EVENT_DISCONNECTED) {
      half_open_.remove(event->value);
      const Accepted& accepted = accepted_[event->value];
      closings_.emplace_back(event->value, accepted.count);
      const std::string why = std::exchange(handshake_failure_, {});
      if (!why.empty() && filter_.accepts(accepted.source))  // otherwise reported above
        receiver.turned_away(accepted.source, why);
    } else if (event->kind == ZMQ_EVENT_ACCEPT_FAILED) {
      if (std::exchange(accept_failed_, event->value) != event->value)
        receiver.turned_away("", accept_failed_text(event->value));
    } else {
      handshake_failure_ = handshake_failure(*event);
    }
  }
}

void Router::forget_closed(const std::function<void(Incoming&)>& lose) {
  for (const Acceptance& closed : std::exchange(closings_, {})) {
    // The range is empty if the peer closed the connection before it sent a frame.
    const auto [first, last] = accepted_as_.equal_range(closed);
    for (auto one = first; one != last; ++one) {
      const auto found = peers_.find(one->second);
      lose(found->second);
      descriptors_.forget(found->second.id);
      by_id_.erase(found->second.id);
      peers_.erase(found);
    }
    accepted_as_.erase(first, last);
  }
}

}  // namespace paths
