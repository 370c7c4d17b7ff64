// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/receiving.cpp — receiving of frames from sockets, and detection of lost peers
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <optional>
#include <span>
#include <utility>

#include "paths/wire/address.hpp"
#include "paths/wire/refusal.hpp"
#include "paths/wire/zmq/codec.hpp"
#include "paths/wire/zmq/monitor.hpp"
#include "paths/wire/zmq/sockets.hpp"

namespace paths {

namespace {

constexpr int messages_in_a_row = 256;  // maximum number of received messages before fibers run

// Number of failed handshakes on a connection after which this host logs that the process at the
// address has the wrong key.
constexpr int handshakes_failed_max = 3;

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

/// Returns why a process that listens in place of `host` may close connections during the
/// handshake; "" if it has no known reason.
std::string reason_of_closing(const Peers& peers, std::uint32_t host) {
  const std::string filters =
      peers.has_fixed_sources ? "does not accept the address of this host (its log says so)" : "";
  if (peers.keyring == nullptr) return filters;
  const std::string key =
      "has not the key of " + peers.keyring->owner_text(peers.hosts[host].key_owner);
  return filters.empty() ? key : fmt::format("{}, or {}", key, filters);
}

/// Checks the host name in the first frame of a connection. Returns an error text if the name
/// contradicts the key of the peer, or if a host of this name connects elsewhere. Returns ""
/// otherwise.
std::string wrong_name(const Peers& peers, const Incoming& peer, const Frame& first) {
  const auto claimed = peers.named(first.text);
  // Only a peer that knows the run learns which hosts connect here.
  if (claimed && peers.hosts[*claimed].address.empty() && first.run_high == peers.run.high &&
      first.run_low == peers.run.low)
    return fmt::format("it says that it is '{}', which has no protected link to this host",
                       first.text);
  if (peer.key_owner.empty()) return "";
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
      return lose(peer, fmt::format("host {} replied {}", peers_->hosts[peer.host].name, wrong));
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
  router_.read_events(*receiver_);
  for (int i = 0; i < messages_in_a_row; ++i) {
    zmq::message_t routing_id, header;
    if (receive_all(router_.socket, {&routing_id, &header}, rest_) == 0)
      return router_.forget_closed([this](Incoming& peer) { lose(peer, process_ended); });
    Incoming* peer = router_.connection_of(routing_id, header, *receiver_);
    if (peer == nullptr || peer->lost) continue;
    auto frame = assemble(*peer, header, rest_, *receiver_);
    const bool is_first = frame && !std::exchange(peer->has_greeted, true);
    if (const std::string why = is_first ? wrong_name(*peers_, *peer, *frame) : ""; !why.empty()) {
      receiver_->turned_away(peer->source, "refused: " + why);
      transmit(peer->id, refusal_of_stranger(RefusalWord::place));
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
      // key may still start. A host also closes a connection if it does not accept the address.
      if (const std::string why = reason_of_closing(*peers_, peer.host);
          ++peer.handshakes_failed == handshakes_failed_max && !why.empty() &&
          closes_.insert(address).second)
        spdlog::warn("host {}: what listens at {} {}", peers_->hosts[host_].name, address, why);
    } else if (event->kind != ZMQ_EVENT_DISCONNECTED) {
      return lose(peer, handshake_refusal(*event, address, peers_->hosts[peer.host].name));
    } else if (peer.met) {
      while (!peer.lost && readable(peer.dealer)) receive_from(peer);
      return lose(peer, process_ended);
    }
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
