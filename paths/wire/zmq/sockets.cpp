// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/sockets.cpp — opening and closing of ZeroMQ sockets, and sending through them
#include "paths/wire/zmq/sockets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "base/errors.hpp"
#include "paths/wire/address.hpp"
#include "paths/wire/zmq/codec.hpp"
#include "paths/wire/zmq/monitor.hpp"
#include "paths/wire/zmq/transport.hpp"
#include "runtime/processes/machine.hpp"

namespace paths {

namespace {

// Numbers of threads that a ZeroMQ context and an Authenticator start. If ZeroMQ cannot start a
// thread, it ends the process by abort().
constexpr std::size_t threads_of_zmq = 2, threads_of_authenticator = 1;
constexpr int sockets_max = 16384;
// Maximum number of bytes that ZeroMQ queues in received messages for each peer on an encrypted
// connection. At this limit ZeroMQ stops reading, and TCP makes the peer wait.
constexpr std::size_t received_ahead_bytes = std::size_t{16} << 20;
// Maximum number of received messages that ZeroMQ queues for each peer on a connection without
// encryption. ZeroMQ counts messages, not bytes. A number that is derived from a limit in bytes
// would allow too few messages, and small frames would take twice as long. Such a number would not
// limit the memory either, because ZeroMQ keeps all parts of a message.
constexpr int received_ahead_messages = 1024;
constexpr int linger_ms = 500;
constexpr int reconnect_ms = 20, reconnect_max_ms = 500;
constexpr int handshake_ms = 10'000;

/// Returns the keys for connections to a listening address. Returns nullptr for a Unix socket,
/// which needs no keys because other users cannot change its folder.
const Keyring* keyring_for(const Peers& peers, const std::string& address) {
  return socket_file(address).empty() ? peers.keyring.get() : nullptr;
}

/// Returns the address for zmq_connect() of a peer at the TCP address `address`. The connection
/// comes from any port of `source`, or from an address that the system chooses if `source` is "".
std::string with_source(const std::string& address, const std::string& source) {
  if (source.empty()) return address;
  const auto start = address.find("://") + 3;
  return fmt::format("{}{}:0;{}", address.substr(0, start), source, address.substr(start));
}

/// Returns the limits for connections on which no message has arrived. The limits allow all
/// connections of the plan, and one connection per host for lanes. Peers may make all of these
/// connections at the same time and from the same address.
HalfOpen::Limits limits_of(const Peers::Peer& self, std::size_t hosts) {
  const std::size_t planned = self.arrivals.size() + hosts;
  const HalfOpen::Limits of_strangers;
  return {of_strangers.of_source + planned, of_strangers.all + planned};
}

/// Sets the options of a socket. Returns the size of the parts in which bodies are sent through it.
std::size_t set_options(zmq::socket_t& socket, bool is_encrypted, const std::string& address) {
  socket.set(zmq::sockopt::ipv6, address.find('[') != std::string::npos);
  socket.set(zmq::sockopt::sndhwm, 0);
  // The option rcvhwm limits the number of received messages, not of bytes. The option maxmsgsize
  // limits their size: ZeroMQ closes a connection on which the peer announces a longer part.
  const std::size_t part_bytes = is_encrypted ? encrypted_part_bytes : body_part_bytes;
  const int received_ahead =
      is_encrypted ? static_cast<int>(received_ahead_bytes / part_bytes) : received_ahead_messages;
  socket.set(zmq::sockopt::rcvhwm, received_ahead);
  socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(part_bytes + header_bytes_max));
  socket.set(zmq::sockopt::linger, linger_ms);
  socket.set(zmq::sockopt::reconnect_ivl, reconnect_ms);
  socket.set(zmq::sockopt::reconnect_ivl_max, reconnect_max_ms);
  socket.set(zmq::sockopt::handshake_ivl, handshake_ms);
  return part_bytes;
}

/// Closes a socket and its monitor (the socket on which ZeroMQ reports events). The monitor is
/// closed only after the reports have ended. Otherwise the thread of ZeroMQ would wait for ever to
/// send a report to the closed monitor, and would serve no other socket.
void close_both(runtime::Runtime& runtime, zmq::socket_t& socket, zmq::socket_t& monitor) {
  if (socket) zmq_socket_monitor(socket.handle(), nullptr, 0);
  for (zmq::socket_t* one : {&monitor, &socket}) {
    if (!*one) continue;
    runtime.unwatch(one->get(zmq::sockopt::fd));
    one->close();
  }
}

}  // namespace

// ---- thread-safe functions -------------------------------------------------------------------

void Sockets::start(Receiver& receiver) {
  const Peers::Peer& self = peers_->hosts[host_];
  const auto fail = [&self](const std::string& reason) {
    throw TravelError(self.name, "", "",
                      fmt::format("cannot listen on {}: {}", located(self.address), reason));
  };
  std::vector<std::string> others;
  for (const Peers::Peer& peer : peers_->hosts) others.push_back(peer.address);
  if (const std::string why = unreachable_from_others(self.address, others); !why.empty())
    fail(why);
  const Keyring* const keyring = keyring_for(*peers_, self.address);
  runtime::raise_descriptor_limit();
  const std::size_t threads = threads_of_zmq + (keyring != nullptr ? threads_of_authenticator : 0);
  try {
    runtime::check_threads_can_begin(threads);
  } catch (const std::exception& error) {
    throw TravelError(self.name, "", "",
                      fmt::format("its sockets need {} threads: {}", threads, error.what()));
  }
  receiver_ = &receiver;
  router_.limit(limits_of(self, peers_->hosts.size()));
  filter_ = SourceFilter(*peers_, host_);
  router_.filter(filter_);
  try {
    context_.set(zmq::ctxopt::max_sockets, sockets_max);
    zmq::socket_t& router = router_.socket;
    router = zmq::socket_t(context_, zmq::socket_type::router);
    router_.part_bytes = set_options(router, keyring != nullptr, self.address);
    router.set(zmq::sockopt::router_mandatory, true);
    // Makes ZeroMQ reject peers with ZeroMQ 2 or 3, because their messages do not identify their
    // connection. ZeroMQ rejects such peers if a domain of ZAP (the authentication protocol of
    // ZeroMQ) is set, even without an authentication handler.
    router.set(zmq::sockopt::zap_domain, "paths");
    if (keyring != nullptr) {
      authenticator_ = std::make_unique<Authenticator>(context_, peers_->keyring, self.name);
      listen_with(router, *keyring);
    }
    router_.monitor =
        monitor_of(context_, router, 0,
                   ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_ACCEPT_FAILED | ZMQ_EVENT_DISCONNECTED |
                       ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
                       ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL);
    if (!socket_file(self.address).empty() && !(claim_ = SocketClaim::take(self.address)))
      throw zmq::error_t(EADDRINUSE);
    router.bind(claim_ ? "ipc://" + claim_->file().string() : numeric_address(self.address));
  } catch (const zmq::error_t& error) {
    fail(error.num() == EADDRINUSE ? in_use_text(self.address) : error.what());
  } catch (const std::runtime_error& error) {
    fail(error.what());
  }
  {
    runtime::Lock lock(mutex_);
    started_ = true;
  }
  // The services' thread may use a ZeroMQ socket that this thread has used, if there is a full
  // memory fence between the two uses. The mutex of the runtime is this fence.
  const auto receive = [this] { receiving([this] { receive_incoming(); }); };
  runtime_.watch(router_.socket.get(zmq::sockopt::fd), receive);
  runtime_.watch(router_.monitor.get(zmq::sockopt::fd), receive);
  receive_later([this] { receive_incoming(); });
}

ConnectionId Sockets::connect(std::uint32_t host) {
  const ConnectionId connection = next_connection_++;
  hand_over({Act::open, connection, host});
  return connection;
}

void Sockets::send(ConnectionId connection, Frame&& frame) {
  hand_over({Act::transmit, connection, 0, std::move(frame)});
}

std::string Sockets::source(ConnectionId connection) const {
  const Incoming* const peer = router_.find(connection);
  return peer == nullptr ? std::string() : peer->source;
}

void Sockets::drop(ConnectionId connection) { hand_over({Act::drop, connection}); }

void Sockets::hand_over(HandedOver one) {
  if (runtime_.on_services_thread() && is_receiving_) return flush(&one);
  runtime::Lock use(using_, std::try_to_lock);
  if (use) {
    flush(&one);
    use.unlock();
  } else {
    runtime::Lock lock(mutex_);
    if (closed_) return;
    handed_over_.push_back(std::move(one));
    has_handed_over_.store(true);
  }
  send_rest();
}

/// Sends the frames that senders have left because the sockets were in use. No left frame is
/// forgotten: either its sender then finds the sockets free, or the last user of the sockets finds
/// the frame.
void Sockets::send_rest() {
  for (runtime::show_unlocked(); has_handed_over_.load(); runtime::show_unlocked()) {
    const runtime::Lock use(using_, std::try_to_lock);
    if (!use) return;
    flush();
  }
}

void Sockets::stop() {
  runtime::Lock lock(mutex_);
  if (!std::exchange(started_, false)) return;
  // The runtime runs tasks in the order in which they were queued. A call of flush() may open
  // sockets and queue a task that begins to watch these sockets. Such a task must run before
  // close_all(), so close_all() is queued after the last call of flush().
  runtime_.wake_from_outside([self = shared_from_this()] {
    self->send_rest();
    self->receive_later([&sockets = *self] { sockets.close_all(); });
  });
  const runtime::Reason reason{"the transport to close"};
  while (!closed_) closed_waiters_.wait(lock, runtime::Deadline::never(), reason);
  lock.unlock();
  context_.close();  // waits for the last messages, at most linger_ms
  claim_.reset();
}

// ---- sending ---------------------------------------------------------------------------------

// The functions below do not call the receiver, because the caller of send() may hold locks that
// the receiver needs.
void Sockets::flush(const HandedOver* own) {
  const auto carry_out = [this](const HandedOver& one) {
    if (closed_) return;
    switch (one.act) {
      case Act::open: open(one.connection, one.host); break;
      case Act::transmit: transmit(one.connection, one.frame); break;
      case Act::drop: give_up(one.connection); break;
    }
  };
  if (has_handed_over_.exchange(false)) {
    {
      runtime::Lock lock(mutex_);
      batch_.swap(handed_over_);
    }
    for (const HandedOver& one : batch_) carry_out(one);
    batch_.clear();
  }
  if (own != nullptr) carry_out(*own);
}

void Sockets::open(ConnectionId connection, std::uint32_t host) {
  const std::string& address = peers_->hosts[host].address;
  Outgoing& peer = outgoing_[connection];
  peer.id = connection;
  peer.host = host;
  try {
    // Without a descriptor for its TCP connection, ZeroMQ would retry without a message.
    if (!runtime::can_open_descriptors(descriptors_of_connection)) throw zmq::error_t(EMFILE);
    peer.dealer = zmq::socket_t(context_, zmq::socket_type::dealer);
    const Keyring* const keyring = keyring_for(*peers_, address);
    peer.part_bytes = set_options(peer.dealer, keyring != nullptr, address);
    if (keyring != nullptr)
      connect_with(peer.dealer, *keyring, keyring->key_of(peers_->hosts[host].key_owner));
    peer.monitor =
        monitor_of(context_, peer.dealer, connection,
                   ZMQ_EVENT_CONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED |
                       ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
                       ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL);
    const bool is_file = !socket_file(address).empty();
    const std::string source = filter_.source_for(peers_->hosts[host_].address, address);
    peer.dealer.connect(is_file ? "ipc://" + safe_socket_file(address).string()
                                : with_source(address, source));
  } catch (const std::exception& error) {
    return lose(peer, fmt::format("host {} cannot connect to it at {}: {}",
                                  peers_->hosts[host_].name, located(address), error.what()));
  }
  runtime_.watch(peer.dealer.get(zmq::sockopt::fd),
                 [this, &peer] { receiving([&] { receive_from(peer); }); });
  runtime_.watch(peer.monitor.get(zmq::sockopt::fd),
                 [this, &peer] { receiving([&] { look_at_monitor(peer); }); });
  receive_soon(peer);  // needed, as the descriptor signals only after the socket was found empty
}

/// Closes a connection. If this host made the connection, also closes its socket, so that a later
/// process at the same address receives nothing of this run.
void Sockets::give_up(ConnectionId connection) {
  if (Incoming* const peer = router_.find(connection); peer != nullptr) {
    peer->lost = true;
    peer->frames = {};
    return;
  }
  const auto found = outgoing_.find(connection);
  if (found == outgoing_.end() || std::exchange(found->second.lost, true)) return;
  receive_later([this, connection] { forget(connection); });
}

void Sockets::transmit(ConnectionId connection, const Frame& frame) {
  Incoming* const incoming = router_.find(connection);
  const auto found = incoming != nullptr ? outgoing_.end() : outgoing_.find(connection);
  if (incoming == nullptr && found == outgoing_.end()) return;
  SocketPeer& peer = incoming != nullptr ? *incoming : static_cast<SocketPeer&>(found->second);
  if (peer.lost) return;
  zmq::socket_t& socket = incoming != nullptr ? router_.socket : found->second.dealer;
  const auto send = [&](FrameMessage& message) {
    if (incoming != nullptr) send_part(socket, zmq::message_t(incoming->routing_id), Part::middle);
    send_message(socket, std::move(message));
  };
  const auto failure = [&](const std::exception& error) {
    const std::string to =
        incoming != nullptr ? "the peer" : "host " + peers_->hosts[found->second.host].name;
    return fmt::format("cannot send to {}: {}", to, error.what());
  };
  try {
    FrameMessages messages = messages_of(frame, peer.part_bytes);
    send(messages.first);
    for (FrameMessage& message : messages.further) send(message);
    // Sending may have consumed the descriptor's signal for a message that has arrived.
    if (!readable(socket)) return;
    if (incoming != nullptr)
      receive_incoming_soon();
    else
      receive_soon(found->second);
  } catch (const zmq::error_t& error) {
    lose(peer, incoming != nullptr ? process_ended : failure(error));
  } catch (const std::exception& error) {
    lose(peer, failure(error));
  }
}

// ---- sockets ---------------------------------------------------------------------------------

/// Closes the sockets of a connection that this host has made. Does nothing for connections that
/// peers have made.
void Sockets::forget(ConnectionId connection) {
  descriptors_.forget(connection);
  const auto found = outgoing_.find(connection);
  if (found == outgoing_.end()) return;
  if (found->second.dealer) found->second.dealer.set(zmq::sockopt::linger, 0);
  close_both(runtime_, found->second.dealer, found->second.monitor);
  outgoing_.erase(found);
}

void Sockets::close_all() {
  receiver_ = nullptr;
  for (auto& [id, peer] : outgoing_) close_both(runtime_, peer.dealer, peer.monitor);
  outgoing_.clear();
  close_both(runtime_, router_.socket, router_.monitor);
  runtime::DeferredWakes wakes;
  runtime::Lock lock(mutex_);
  closed_ = true;
  handed_over_.clear();
  closed_waiters_.wake_all(wakes);
}

std::string zmq_version() {
  const auto [major, minor, patch] = zmq::version();
  return fmt::format("{}.{}.{}", major, minor, patch);
}

}  // namespace paths
