// SPDX-License-Identifier: Apache-2.0
// paths/wire/zmq/sockets.hpp — ZeroMQ sockets of one host
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>
#include <zmq.hpp>

#include "paths/wire/peers.hpp"
#include "paths/wire/socket_folder.hpp"
#include "paths/wire/source_filter.hpp"
#include "paths/wire/transport.hpp"
#include "paths/wire/zmq/authenticator.hpp"
#include "paths/wire/zmq/codec.hpp"
#include "paths/wire/zmq/descriptors.hpp"
#include "paths/wire/zmq/router.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// A connection that this host has made.
struct Outgoing : SocketPeer {
  std::uint32_t host = 0;
  zmq::socket_t dealer;
  zmq::socket_t monitor;
  bool met = false;  ///< whether the peer was reached; if not, a disconnection is not a loss
  bool look_again = false;
  int handshakes_failed = 0;  ///< number of handshakes during which the peer closed the connection
};

/// All ZeroMQ sockets of one host. Ensures that only one thread at a time uses the sockets, as
/// ZeroMQ requires.
/// Owns:        the sockets. Callbacks of the runtime keep this object until the last callback has
///              returned, even after the transport is destroyed.
/// Thread-safe: yes. In most cases the sending thread uses the sockets itself, so that no other
///              thread needs to wake up. If the sockets are in use, the sender leaves its frame to
///              the thread that uses them. Only the services' thread (the OS thread whose fibers do
///              work for other hosts) receives. It waits briefly until the sockets are free.
class Sockets : public std::enable_shared_from_this<Sockets> {
 public:
  Sockets(runtime::Runtime& runtime, std::shared_ptr<const Peers> peers, std::uint32_t host)
      : runtime_(runtime), peers_(std::move(peers)), host_(host), context_(1) {}

  // The public functions are thread-safe, except source().
  void start(Receiver& receiver);
  ConnectionId connect(std::uint32_t host);
  void send(ConnectionId connection, Frame&& frame);
  void drop(ConnectionId connection);
  void stop();
  PeerContact contact(ConnectionId connection) { return descriptors_.contact(connection); }
  std::string source(ConnectionId connection) const;  // called only on the services' thread

 private:
  enum class Act : std::uint8_t { open, transmit, drop };
  /// An action (open, send or drop) that a caller leaves to the thread that currently uses the
  /// sockets.
  struct HandedOver {
    Act act;
    ConnectionId connection = 0;
    std::uint32_t host = 0;  // host to connect to, if `act` is open
    Frame frame = {};        // frame to send, if `act` is transmit
  };
  void hand_over(HandedOver one);
  void send_rest();
  template <class Receive>
  void receiving(Receive receive);
  /// Calls receiving() later, on the services' thread. Keeps this object until receiving() returns.
  template <class Receive>
  void receive_later(Receive receive) {
    runtime_.wake_from_outside(
        [self = shared_from_this(), receive = std::move(receive)] { self->receiving(receive); });
  }

  // All member functions below require that using_ is held.
  /// Carries out the actions that others have left, and then `own`, unless it is nullptr.
  void flush(const HandedOver* own = nullptr);
  void open(ConnectionId connection, std::uint32_t host);
  void give_up(ConnectionId connection);
  void transmit(ConnectionId connection, const Frame& frame);
  // The following functions run on the services' thread, within receiving().
  void receive_from(Outgoing& peer);
  void receive_incoming();
  void receive_soon(Outgoing& peer);
  void receive_incoming_soon();
  void look_at_monitor(Outgoing& peer);
  void lose(SocketPeer& peer, std::string reason);
  void forget(ConnectionId connection);
  void close_all();

  runtime::Runtime& runtime_;
  std::shared_ptr<const Peers> peers_;
  std::uint32_t host_;
  Receiver* receiver_ = nullptr;
  std::atomic<ConnectionId> next_connection_{1};

  runtime::Mutex mutex_;
  std::vector<HandedOver> handed_over_;  // mutex_ guards this member and the next three members
  bool started_ = false;
  bool closed_ = false;  // changed only by the holder of using_
  runtime::WaitList closed_waiters_;
  std::atomic<bool> has_handed_over_{false};

  Descriptors descriptors_;

  runtime::Mutex using_;       // guards all members below
  bool is_receiving_ = false;  // whether the services' thread receives; used on that thread only
  std::vector<HandedOver> batch_;

  SourceFilter filter_;
  std::unique_ptr<SocketClaim> claim_;            // must be destroyed after the sockets
  std::unique_ptr<Authenticator> authenticator_;  // must be destroyed after context_ is closed
  zmq::context_t context_;
  Router router_{descriptors_, next_connection_};
  std::unordered_map<ConnectionId, Outgoing> outgoing_;
  std::vector<zmq::message_t> rest_;  // parts that follow the header of the received message
  std::set<std::string> closes_;      // addresses for which closed handshakes were logged
  bool router_look_again_ = false;
};

/// Runs `receive` while no other thread uses the sockets. Then sends the frames that senders have
/// left during this time.
template <class Receive>
void Sockets::receiving(Receive receive) {
  {
    const runtime::Lock use(using_);
    struct FlagWhileReceiving {
      bool& is;
      explicit FlagWhileReceiving(bool& flag) : is(flag) { is = true; }
      ~FlagWhileReceiving() { is = false; }
    } const receiving(is_receiving_);
    receive();
  }
  send_rest();
}

}  // namespace paths
