// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/receiving.cpp — receiving of frames from sockets, and detection of lost peers
#include <fmt/format.h>

#include <cstring>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "paths/wire/address.hpp"
#include "paths/wire/zmq/codec.hpp"
#include "paths/wire/zmq/sockets.hpp"

namespace paths {

namespace {

constexpr int messages_in_a_row = 256;  // messages received before fibers get a turn

struct SocketEvent {
  std::uint16_t kind = 0;
  int descriptor = -1;
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
  read.descriptor = static_cast<int>(value);
  return read;
}

}  // namespace

void Sockets::receive_from(Outgoing& peer) {
  peer.look_again = false;
  for (int i = 0; i < messages_in_a_row; ++i) {
    if (peer.lost || receiver_ == nullptr) return;
    zmq::message_t header;
    if (receive_all(peer.dealer, {&header}, body_) == 0) return;
    auto frame = frame_of(header, body_);
    if (!frame) {
      return lose(peer, fmt::format("host {} replied {} bytes that are not a frame", name_of(peer),
                                    header.size()));
    }
    receiver_->deliver(peer.id, std::move(*frame));
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
    if (receive_all(router_, {&routing_id, &header}, body_) == 0) return report_closed();
    Incoming* peer = incoming_of(routing_id, header);
    if (peer == nullptr || peer->lost) continue;
    auto frame = frame_of(header, body_);
    if (frame) {
      receiver_->deliver(peer->id, std::move(*frame));
    } else {
      receiver_->turned_away(peer->source,
                             fmt::format("ignored: {} bytes that are not a frame", header.size()));
      lose(*peer, "it sent bytes that are not a frame");
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
  peer.source = property(header, "Peer-Address").value_or("");
  // ZeroMQ has reported the connection before its first frame arrived. If the connection was closed
  // meanwhile and its descriptor used again, `count` already includes the next connection with this
  // descriptor. The loss of the present connection is then noticed only when the next one closes.
  // But no loss is reported for a connection that still lives.
  look_at_router_monitor();
  peer.acceptance.first = std::stoi(*descriptor);
  peer.acceptance.second = accepted_[peer.acceptance.first].count;
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
    if (event->kind == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
      peer.met = true;
    } else if (event->kind != ZMQ_EVENT_DISCONNECTED) {
      return lose(
          peer, fmt::format("the process that listens at {} does not speak the protocol of host {}",
                            peers_->hosts[peer.host].address, name_of(peer)));
    } else if (peer.met) {
      while (!peer.lost && readable(peer.dealer)) receive_from(peer);
      return lose(peer, fmt::format("host {} has closed the connection or died", name_of(peer)));
    }
  }
}

// One thread of ZeroMQ reports all events in order. The event of a failed handshake therefore
// belongs to the connection whose end is reported next.
void Sockets::look_at_router_monitor() {
  while (const auto event = next_event(router_monitor_)) {
    if (event->kind == ZMQ_EVENT_ACCEPTED) {
      Accepted& accepted = accepted_[event->descriptor];
      ++accepted.count;
      accepted.source = address_of_peer(event->descriptor);
    } else if (event->kind == ZMQ_EVENT_DISCONNECTED) {
      const Accepted& accepted = accepted_[event->descriptor];
      closings_.emplace_back(event->descriptor, accepted.count);
      if (std::exchange(handshake_failed_, false))
        receiver_->turned_away(accepted.source, "turned away: it does not speak ZMTP 3");
    } else if (event->kind == ZMQ_EVENT_ACCEPT_FAILED) {
      // In this event, the field of the descriptor contains the error.
      if (std::exchange(accept_failed_, event->descriptor) != event->descriptor)
        receiver_->turned_away("", accept_failed_text(event->descriptor));
    } else {
      handshake_failed_ = true;
    }
  }
}

// Reports the loss of closed connections. Requires: the router (the socket to which peers connect)
// has no more frames. All frames of a peer are therefore delivered before its loss.
void Sockets::report_closed() {
  for (const Acceptance& closed : std::exchange(closings_, {})) {
    // The range is empty if the peer closed the connection before it sent a frame.
    const auto [first, last] = accepted_as_.equal_range(closed);
    for (auto one = first; one != last; ++one) {
      const auto found = incoming_.find(one->second);
      lose(found->second, peer_gone);
      routing_ids_.erase(found->second.id);
      incoming_.erase(found);
    }
    accepted_as_.erase(first, last);
  }
}

// Marks a connection as lost; its loss is reported later. If the peer has made the connection, its
// entry stays until the peer is gone. Until then, its frames are ignored.
void Sockets::lose(SocketPeer& peer, std::string reason) {
  if (std::exchange(peer.lost, true)) return;
  receive_later([this, id = peer.id, reason = std::move(reason)] {
    forget(id);
    if (receiver_ != nullptr) receiver_->connection_lost(id, reason);
  });
}

}  // namespace paths
