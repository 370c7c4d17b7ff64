// SPDX-License-Identifier: Apache-2.0
// paths/wire/transport_zmq.cpp — sockets on the services' thread, and when they are looked at.
#include "paths/wire/transport_zmq.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>
#include <zmq.hpp>

#include "base/errors.hpp"
#include "paths/wire/address.hpp"
#include "paths/wire/socket_folder.hpp"

namespace paths {
namespace {

constexpr std::size_t uncopied_bytes = 4096;  // bodies from here on cross without being copied
constexpr int receives_in_a_row = 256;        // then fibers get a turn
constexpr int sockets_max = 16384;
constexpr int received_ahead = 1024;  // messages of one peer; then it waits, by its own TCP
constexpr int linger_ms = 500;
constexpr int reconnect_ms = 20, reconnect_max_ms = 500;
constexpr const char* peer_gone = "the peer has closed the connection or died";
constexpr int heartbeat_ms = 5000, silence_max_ms = 15000;

/// A connection this host made.
struct Outgoing {
  ConnectionId id = 0;
  std::uint32_t host = 0;
  zmq::socket_t dealer;
  zmq::socket_t monitor;
  bool met = false;  ///< the peer was there; from now on its absence is a loss
  bool lost = false;
  bool look_again = false;
};

/// One use of a descriptor for a connection that a peer made.
using Acceptance = std::pair<int, std::uint64_t>;

/// A connection a peer made. ZeroMQ tells frames apart by routing id and losses by descriptor; as
/// descriptors are used again, the acceptance counts which use of it this is.
struct Incoming {
  ConnectionId id = 0;
  Acceptance acceptance;
  std::string source;
  bool lost = false;
};

/// The latest use of a descriptor.
struct Accepted {
  std::uint64_t count = 0;
  std::string source;
};

struct SocketEvent {
  std::uint16_t kind = 0;
  int descriptor = -1;
};

zmq::message_t message_of(base::Payload body) {
  const auto bytes = body.bytes();
  if (bytes.size() < uncopied_bytes) return zmq::message_t(bytes.data(), bytes.size());
  auto* held = new base::Payload(std::move(body));
  auto release = [](void*, void* hint) { delete static_cast<base::Payload*>(hint); };
  return zmq::message_t(const_cast<std::byte*>(held->bytes().data()), bytes.size(), release, held);
}

std::span<const std::byte> bytes_of(const zmq::message_t& message) {
  return {static_cast<const std::byte*>(message.data()), message.size()};
}

base::Payload payload_of(zmq::message_t message) {
  if (message.size() < uncopied_bytes) return base::Payload::copy_of(bytes_of(message));
  auto held = std::make_shared<zmq::message_t>(std::move(message));
  return base::Payload::adopt(bytes_of(*held), [held]() mutable { held.reset(); });
}

/// A signal that some handler took makes ZeroMQ give up, having done nothing.
template <class Call>
auto uninterrupted(Call call) {
  for (;;) {
    try {
      return call();
    } catch (const zmq::error_t& error) {
      if (error.num() != EINTR) throw;
    }
  }
}

/// False when there is nothing (more) to receive.
bool receive(zmq::socket_t& socket, zmq::message_t& part) {
  return uninterrupted([&] { return socket.recv(part, zmq::recv_flags::dontwait); }).has_value();
}

/// How many parts the next message has, which arrive together; 0 when there is none. Those beyond
/// `parts` are dropped.
std::size_t receive_all(zmq::socket_t& socket, std::initializer_list<zmq::message_t*> parts) {
  zmq::message_t ignored;
  std::size_t count = 0;
  for (bool has_more = true; has_more; ++count) {
    zmq::message_t& part = count < parts.size() ? **(parts.begin() + count) : ignored;
    if (!receive(socket, part)) break;
    has_more = part.more();
  }
  return count;
}

/// A frame is a message of two parts.
std::optional<Frame> frame_of(std::size_t parts, const zmq::message_t& header,
                              zmq::message_t body) {
  if (parts != 2) return std::nullopt;
  return decode_frame(bytes_of(header), payload_of(std::move(body)));
}

/// A property of the connection that brought a message; nothing when the peer's protocol has none.
std::optional<std::string> property(const zmq::message_t& message, const char* name) {
  const char* text = zmq_msg_gets(message.handle(), name);
  return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}

enum class Part : std::uint8_t { middle, last };
void send_part(zmq::socket_t& socket, zmq::message_t part, Part place) {
  auto flags = zmq::send_flags::dontwait;
  if (place == Part::middle) flags = flags | zmq::send_flags::sndmore;
  // With no high-water mark there is always room, unless ZeroMQ has given the peer up.
  if (!uninterrupted([&] { return socket.send(part, flags); })) throw zmq::error_t(EHOSTUNREACH);
}

/// Looks for itself, and so works whether or not the descriptor has told already.
bool readable(zmq::socket_t& socket) {
  return (uninterrupted([&] { return socket.get(zmq::sockopt::events); }) & ZMQ_POLLIN) != 0;
}

std::optional<SocketEvent> next_event(zmq::socket_t& monitor) {
  zmq::message_t event, address;
  if (receive_all(monitor, {&event, &address}) == 0) return std::nullopt;
  ENSURE_EQ(event.size(), 6u);
  SocketEvent read;
  std::uint32_t value;
  std::memcpy(&read.kind, event.data(), sizeof read.kind);
  std::memcpy(&value, event.data<char>() + sizeof read.kind, sizeof value);
  read.descriptor = static_cast<int>(value);
  return read;
}

/// Every connection takes about four descriptors; the usual soft limit is 1024.
void allow_many_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 4 * sockets_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// All sockets of one host. Whoever is called back by the runtime holds it, so that it outlives
/// the transport until the last call is over.
class Sockets : public std::enable_shared_from_this<Sockets> {
 public:
  Sockets(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan, std::uint32_t host)
      : runtime_(runtime), plan_(std::move(plan)), host_(host), context_(1) {}

  // From any context.
  void start(Receiver& receiver);
  ConnectionId connect(std::uint32_t host);
  void send(ConnectionId connection, Frame frame);
  void drop(ConnectionId connection);
  void stop();
  std::string source(ConnectionId connection) const;  // on the services' thread

 private:
  enum class Act : std::uint8_t { open, transmit, drop };
  /// What one context gives to the services' thread.
  struct HandedOver {
    Act act;
    ConnectionId connection = 0;
    std::uint32_t host = 0;  // to open
    Frame frame = {};        // to transmit
  };
  void hand_over(HandedOver one);

  // On the services' thread from here on.
  void flush();
  void open(ConnectionId connection, std::uint32_t host);
  void give_up(ConnectionId connection);
  void transmit(ConnectionId connection, const Frame& frame);
  void transmit_to_peer(ConnectionId connection, const std::string& routing_id, const Frame& frame);
  void receive_from(Outgoing& peer);
  void receive_incoming();
  void receive_soon(Outgoing& peer);
  void receive_incoming_soon();
  Incoming* incoming_of(const zmq::message_t& routing_id, zmq::message_t& header);
  void look_at_monitor(Outgoing& peer);
  void look_at_router_monitor();
  void report_closed();
  void lose(Outgoing& peer, std::string reason);
  void lose(Incoming& peer, std::string reason);
  void forget(ConnectionId connection);
  void close_both(zmq::socket_t& socket, zmq::socket_t& monitor);
  void close_all();

  void set_options(zmq::socket_t& socket, const std::string& address);
  zmq::socket_t monitor_of(zmq::socket_t& socket, ConnectionId connection, int events);
  void unwatch(zmq::socket_t& socket) { runtime_.unwatch(socket.get(zmq::sockopt::fd)); }
  const std::string& name_of(const Outgoing& peer) const { return plan_->hosts[peer.host].name; }

  runtime::Runtime& runtime_;
  std::shared_ptr<const Plan> plan_;
  std::uint32_t host_;
  Receiver* receiver_ = nullptr;
  std::atomic<ConnectionId> next_connection_{1};

  runtime::Mutex mutex_;
  std::vector<HandedOver> handed_over_;  // guarded, as are the next three
  bool started_ = false;
  bool closed_ = false;
  runtime::WaitList closed_waiters_;

  std::unique_ptr<SocketClaim> claim_;  // goes after the sockets
  zmq::context_t context_;
  zmq::socket_t router_;
  zmq::socket_t router_monitor_;
  std::unordered_map<ConnectionId, Outgoing> outgoing_;
  std::unordered_map<std::string, Incoming> incoming_;  // by routing id
  std::unordered_map<ConnectionId, std::string> routing_ids_;
  std::multimap<Acceptance, std::string> accepted_as_;  // routing ids
  std::unordered_map<int, Accepted> accepted_;          // by descriptor
  std::vector<Acceptance> closings_;                    // not reported yet
  bool handshake_failed_ = false;                       // of the next that closes
  bool flushing_ = false;
  bool router_look_again_ = false;
};

// ---- from any context ------------------------------------------------------------------------

void Sockets::start(Receiver& receiver) {
  ENSURE(!runtime_.is_virtual());
  const Plan::PlanHost& self = plan_->hosts[host_];
  const auto fail = [&self](const std::string& reason) {
    throw TravelError(self.name, "", "",
                      fmt::format("cannot listen on {}: {}", located(self.address), reason));
  };
  const std::string in_use = "the address is in use; is another run still going on?";
  allow_many_descriptors();
  receiver_ = &receiver;
  try {
    context_.set(zmq::ctxopt::max_sockets, sockets_max);
    router_ = zmq::socket_t(context_, zmq::socket_type::router);
    set_options(router_, self.address);
    router_.set(zmq::sockopt::router_mandatory, true);
    // With a domain, ZeroMQ turns away peers of its versions 2 and 3, whose messages say nothing of
    // the connection that brought them. Nobody is asked about the domain.
    router_.set(zmq::sockopt::zap_domain, "paths");
    router_monitor_ = monitor_of(
        router_, 0,
        ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
            ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL);
    if (!socket_file(self.address).empty() && !(claim_ = SocketClaim::take(self.address)))
      throw zmq::error_t(EADDRINUSE);
    router_.bind(claim_ ? "ipc://" + claim_->file().string() : numeric_address(self.address));
  } catch (const zmq::error_t& error) {
    fail(error.num() == EADDRINUSE ? in_use : error.what());
  } catch (const std::runtime_error& error) {
    fail(error.what());
  }
  {
    runtime::Lock lock(mutex_);
    started_ = true;
  }
  // A socket may change its thread when a full fence lies between: the runtime's own mutex.
  runtime_.watch(router_.get(zmq::sockopt::fd), [this] { receive_incoming(); });
  runtime_.watch(router_monitor_.get(zmq::sockopt::fd), [this] { receive_incoming(); });
  runtime_.wake_from_outside([self = shared_from_this()] { self->receive_incoming(); });
}

ConnectionId Sockets::connect(std::uint32_t host) {
  const ConnectionId connection = next_connection_++;
  hand_over({Act::open, connection, host});
  return connection;
}

void Sockets::send(ConnectionId connection, Frame frame) {
  hand_over({Act::transmit, connection, 0, std::move(frame)});
}

void Sockets::drop(ConnectionId connection) { hand_over({Act::drop, connection}); }

void Sockets::hand_over(HandedOver one) {
  bool first;
  {
    runtime::Lock lock(mutex_);
    if (closed_) return;
    first = handed_over_.empty();
    handed_over_.push_back(std::move(one));
  }
  if (runtime_.on_services_thread()) {
    flush();
  } else if (first) {
    runtime_.wake_from_outside([self = shared_from_this()] { self->flush(); });
  }
}

void Sockets::stop() {
  runtime::Lock lock(mutex_);
  if (!std::exchange(started_, false)) return;
  // Twice through the queue: what flush() opens is watched before it is closed.
  runtime_.wake_from_outside([self = shared_from_this()] {
    self->flush();
    self->runtime_.wake_from_outside([self] { self->close_all(); });
  });
  const runtime::Reason reason{"the transport to close"};
  while (!closed_) closed_waiters_.wait(lock, runtime::Deadline::never(), reason);
  lock.unlock();
  context_.close();  // waits for what lingers
  claim_.reset();
}

// ---- sending ---------------------------------------------------------------------------------

// May run in a sender's context, who may hold locks of its own: nothing below calls the receiver.
void Sockets::flush() {
  if (std::exchange(flushing_, true)) return;
  struct Flushing {
    bool& is;
    ~Flushing() { is = false; }
  } const flushing{flushing_};
  for (;;) {
    std::vector<HandedOver> batch;
    {
      runtime::Lock lock(mutex_);
      batch.swap(handed_over_);
    }
    if (batch.empty()) break;
    for (const HandedOver& one : batch) {
      switch (one.act) {
        case Act::open: open(one.connection, one.host); break;
        case Act::transmit: transmit(one.connection, one.frame); break;
        case Act::drop: give_up(one.connection); break;
      }
    }
  }
}

void Sockets::open(ConnectionId connection, std::uint32_t host) {
  const std::string& address = plan_->hosts[host].address;
  Outgoing& peer = outgoing_[connection];
  peer.id = connection;
  peer.host = host;
  try {
    peer.dealer = zmq::socket_t(context_, zmq::socket_type::dealer);
    set_options(peer.dealer, address);
    peer.monitor =
        monitor_of(peer.dealer, connection,
                   ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED |
                       ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH);
    const bool is_file = !socket_file(address).empty();
    peer.dealer.connect(is_file ? "ipc://" + safe_socket_file(address).string() : address);
  } catch (const std::exception& error) {
    return lose(peer, fmt::format("cannot connect to host {} at {}: {}", name_of(peer),
                                  located(address), error.what()));
  }
  runtime_.watch(peer.dealer.get(zmq::sockopt::fd), [this, &peer] { receive_from(peer); });
  runtime_.watch(peer.monitor.get(zmq::sockopt::fd), [this, &peer] { look_at_monitor(peer); });
  receive_soon(peer);  // a descriptor tells nothing before its socket was found empty once
}

/// Whoever comes back to that address must find nothing of this run in the socket.
void Sockets::give_up(ConnectionId connection) {
  if (const auto known = routing_ids_.find(connection); known != routing_ids_.end()) {
    incoming_.at(known->second).lost = true;
    return;
  }
  const auto found = outgoing_.find(connection);
  if (found == outgoing_.end() || std::exchange(found->second.lost, true)) return;
  runtime_.wake_from_outside([self = shared_from_this(), connection] { self->forget(connection); });
}

void Sockets::transmit(ConnectionId connection, const Frame& frame) {
  if (const auto found = routing_ids_.find(connection); found != routing_ids_.end())
    return transmit_to_peer(connection, found->second, frame);
  const auto found = outgoing_.find(connection);
  if (found == outgoing_.end() || found->second.lost) return;
  Outgoing& peer = found->second;
  try {
    // Both first: of a frame half of which was sent, the next one would be the rest.
    zmq::message_t header(encode_header(frame)), body = message_of(encode_body(frame));
    send_part(peer.dealer, std::move(header), Part::middle);
    send_part(peer.dealer, std::move(body), Part::last);
    // Sending may have eaten the sign that something arrived.
    if (readable(peer.dealer)) receive_soon(peer);
  } catch (const std::exception& error) {
    lose(peer, fmt::format("cannot send to host {}: {}", name_of(peer), error.what()));
  }
}

void Sockets::transmit_to_peer(ConnectionId connection, const std::string& routing_id,
                               const Frame& frame) {
  Incoming& peer = incoming_.at(routing_id);
  if (peer.lost) return;
  ENSURE_EQ(peer.id, connection);
  try {
    zmq::message_t header(encode_header(frame)), body = message_of(encode_body(frame));
    send_part(router_, zmq::message_t(routing_id), Part::middle);
    send_part(router_, std::move(header), Part::middle);
    send_part(router_, std::move(body), Part::last);
    if (readable(router_)) receive_incoming_soon();
  } catch (const zmq::error_t&) {
    lose(peer, peer_gone);
  } catch (const std::exception& error) {
    lose(peer, fmt::format("cannot send to the peer: {}", error.what()));
  }
}

// ---- receiving -------------------------------------------------------------------------------

void Sockets::receive_from(Outgoing& peer) {
  peer.look_again = false;
  for (int i = 0; i < receives_in_a_row; ++i) {
    if (peer.lost || receiver_ == nullptr) return;
    zmq::message_t header, body;
    const std::size_t parts = receive_all(peer.dealer, {&header, &body});
    if (parts == 0) return;
    auto frame = frame_of(parts, header, std::move(body));
    if (!frame) {
      return lose(peer, fmt::format("host {} answered {} bytes that are not a frame", name_of(peer),
                                    header.size()));
    }
    receiver_->deliver(peer.id, std::move(*frame));
  }
  receive_soon(peer);
}

void Sockets::receive_soon(Outgoing& peer) {
  if (std::exchange(peer.look_again, true)) return;
  runtime_.wake_from_outside([self = shared_from_this(), id = peer.id] {
    const auto found = self->outgoing_.find(id);
    if (found == self->outgoing_.end()) return;
    self->look_at_monitor(found->second);
    self->receive_from(found->second);
  });
}

void Sockets::receive_incoming() {
  if (receiver_ == nullptr) return;
  router_look_again_ = false;
  look_at_router_monitor();
  for (int i = 0; i < receives_in_a_row; ++i) {
    zmq::message_t routing_id, header, body;
    const std::size_t parts = receive_all(router_, {&routing_id, &header, &body});
    if (parts == 0) return report_closed();
    Incoming* peer = incoming_of(routing_id, header);
    if (peer == nullptr || peer->lost) continue;
    auto frame = frame_of(parts - 1, header, std::move(body));
    if (frame) {
      receiver_->deliver(peer->id, std::move(*frame));
    } else {
      receiver_->turned_away(
          peer->source, fmt::format("ignored: {} bytes that are not a frame came", header.size()));
      lose(*peer, "it sent bytes that are not a frame");
    }
  }
  receive_incoming_soon();
}

void Sockets::receive_incoming_soon() {
  if (std::exchange(router_look_again_, true)) return;
  runtime_.wake_from_outside([self = shared_from_this()] { self->receive_incoming(); });
}

Incoming* Sockets::incoming_of(const zmq::message_t& routing_id, zmq::message_t& header) {
  std::string key = routing_id.to_string();
  if (const auto known = incoming_.find(key); known != incoming_.end()) return &known->second;
  const auto descriptor = property(header, "__fd");
  if (!descriptor) {
    receiver_->turned_away("", "ignored: a message came that says nothing of its connection");
    return nullptr;
  }
  Incoming& peer = incoming_[key];
  peer.id = next_connection_++;
  peer.source = property(header, "Peer-Address").value_or("");
  // Its acceptance was reported before its first frame came. Should the descriptor be another's
  // by now, our count is too high and the loss is noticed late, but never the wrong one's.
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
      return lose(peer, fmt::format("what listens at {} does not speak the protocol of host {}",
                                    plan_->hosts[peer.host].address, name_of(peer)));
    } else if (peer.met) {
      while (!peer.lost && readable(peer.dealer)) receive_from(peer);
      return lose(peer, fmt::format("host {} has closed the connection or died", name_of(peer)));
    }
  }
}

// One thread of ZeroMQ's reports them, so that a handshake that failed belongs to what closes next.
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
    } else {
      handshake_failed_ = true;
    }
  }
}

// Called when the router has nothing left to receive, so that frames come before the loss.
void Sockets::report_closed() {
  for (const Acceptance& closed : std::exchange(closings_, {})) {
    // None when it closed before it sent anything.
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

void Sockets::lose(Outgoing& peer, std::string reason) {
  if (std::exchange(peer.lost, true)) return;
  runtime_.wake_from_outside([self = shared_from_this(), id = peer.id, reason = std::move(reason)] {
    self->forget(id);
    if (self->receiver_ != nullptr) self->receiver_->connection_lost(id, reason);
  });
}

// A peer that misbehaves is remembered, to be ignored, until it is gone.
void Sockets::lose(Incoming& peer, std::string reason) {
  if (std::exchange(peer.lost, true)) return;
  runtime_.wake_from_outside([self = shared_from_this(), id = peer.id, reason = std::move(reason)] {
    if (self->receiver_ != nullptr) self->receiver_->connection_lost(id, reason);
  });
}

void Sockets::forget(ConnectionId connection) {
  const auto found = outgoing_.find(connection);
  if (found == outgoing_.end()) return;
  if (found->second.dealer) found->second.dealer.set(zmq::sockopt::linger, 0);
  close_both(found->second.dealer, found->second.monitor);
  outgoing_.erase(found);
}

// ZeroMQ's own thread would wait for ever to tell a closed monitor something, and serve no other
// socket meanwhile; so the telling ends first.
void Sockets::close_both(zmq::socket_t& socket, zmq::socket_t& monitor) {
  if (socket) zmq_socket_monitor(socket.handle(), nullptr, 0);
  for (zmq::socket_t* one : {&monitor, &socket}) {
    if (!*one) continue;
    unwatch(*one);
    one->close();
  }
}

void Sockets::close_all() {
  receiver_ = nullptr;
  for (auto& [id, peer] : outgoing_) close_both(peer.dealer, peer.monitor);
  outgoing_.clear();
  close_both(router_, router_monitor_);
  runtime::Wakes wakes;
  runtime::Lock lock(mutex_);
  closed_ = true;
  handed_over_.clear();
  closed_waiters_.wake_all(wakes);
}

// ---- sockets ---------------------------------------------------------------------------------

void Sockets::set_options(zmq::socket_t& socket, const std::string& address) {
  socket.set(zmq::sockopt::ipv6, address.find('[') != std::string::npos);
  socket.set(zmq::sockopt::sndhwm, 0);
  socket.set(zmq::sockopt::rcvhwm, received_ahead);
  socket.set(zmq::sockopt::linger, linger_ms);
  socket.set(zmq::sockopt::reconnect_ivl, reconnect_ms);
  socket.set(zmq::sockopt::reconnect_ivl_max, reconnect_max_ms);
  socket.set(zmq::sockopt::heartbeat_ivl, heartbeat_ms);
  socket.set(zmq::sockopt::heartbeat_timeout, silence_max_ms);
  socket.set(zmq::sockopt::heartbeat_ttl, silence_max_ms);
}

/// Reports what happens to `socket`; shut and gone when the socket is.
zmq::socket_t Sockets::monitor_of(zmq::socket_t& socket, ConnectionId connection, int events) {
  const std::string address = fmt::format("inproc://monitor-{}", connection);
  if (zmq_socket_monitor(socket.handle(), address.c_str(), events) != 0) throw zmq::error_t();
  zmq::socket_t monitor(context_, zmq::socket_type::pair);
  monitor.set(zmq::sockopt::linger, 0);
  monitor.set(zmq::sockopt::rcvhwm, 0);  // ZeroMQ's own thread would wait for us
  monitor.connect(address);
  return monitor;
}

/// What the host holds.
class ZmqTransport final : public Transport {
 public:
  explicit ZmqTransport(std::shared_ptr<Sockets> sockets) : sockets_(std::move(sockets)) {}
  ~ZmqTransport() override {
    try {
      sockets_->stop();
    } catch (const runtime::Stop&) {
      // The sockets close themselves when the services' thread comes to it.
    }
  }
  void start(Receiver& receiver) override { sockets_->start(receiver); }
  ConnectionId connect(std::uint32_t host, std::uint32_t) override {
    return sockets_->connect(host);
  }
  void send(ConnectionId connection, Frame frame) override {
    sockets_->send(connection, std::move(frame));
  }
  void drop(ConnectionId connection) override { sockets_->drop(connection); }
  std::string source(ConnectionId connection) override { return sockets_->source(connection); }
  void stop() override { sockets_->stop(); }

 private:
  std::shared_ptr<Sockets> sockets_;
};

}  // namespace

std::unique_ptr<Transport> make_zmq_transport(runtime::Runtime& runtime,
                                              std::shared_ptr<const Plan> plan,
                                              std::uint32_t host) {
  return std::make_unique<ZmqTransport>(std::make_shared<Sockets>(runtime, std::move(plan), host));
}

}  // namespace paths
