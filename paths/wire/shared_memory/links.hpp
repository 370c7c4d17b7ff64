// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/links.hpp — all shared-memory links of one host
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "paths/wire/peers.hpp"
#include "paths/wire/shared_memory/link.hpp"
#include "paths/wire/shared_memory/link_receiver.hpp"
#include "paths/wire/shared_memory/link_table.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// All shared-memory links of one host. Opens and accepts links, and sends frames on the links. A
/// LinkReceiver receives the frames that arrive.
/// Owns:        the links. Callbacks of the runtime hold this object until the last callback has
///              returned, even after the transport is destroyed.
/// Thread-safe: yes. Only the services' thread opens and closes links.
/// Locks:       must be locked in this order: that of LinkReceiver::alone(), the receiver's lock,
///              mutex_, the lock of links_, a link's lock.
class Links final : public std::enable_shared_from_this<Links> {
 public:
  Links(runtime::Runtime& runtime, std::shared_ptr<const Peers> peers, std::uint32_t host,
        std::shared_ptr<Detour> detour)
      : runtime_(runtime),
        peers_(std::move(peers)),
        host_(host),
        detour_(std::move(detour)),
        receiver_(std::make_shared<LinkReceiver>(runtime, peers_)) {}

  // The public functions are thread-safe.
  /// Starts listening and receiving.
  /// Throws: TravelError if the host cannot listen.
  void start(Receiver& receiver);
  ConnectionId connect(std::uint32_t host);
  void send(ConnectionId connection, const Frame& frame);
  std::shared_ptr<ShortWay> short_way(ConnectionId connection);
  bool has_room(ConnectionId connection);
  PeerContact contact(ConnectionId connection);
  void drop(ConnectionId connection);
  void settle() { receiver_->settle(); }
  void stop();

 private:
  class Way;
  template <class AnyFrame>
  void send_on(const LinkPtr& link, ConnectionId connection, const AnyFrame& frame);

  // On the services' thread:
  void open(LinkPtr link);
  void retry();
  void accept();
  void listen_to(const LinkPtr& link);
  void hear(const LinkPtr& link);
  void take_greeting(const LinkPtr& link, SocketWord word);
  void answer_greeting(const LinkPtr& link, SocketWord word);
  void refuse_memory(const LinkPtr& link, const std::string& why);
  void divert(const LinkPtr& link, const std::string& why);
  void say_once(const std::string& why);
  void peer_ended(const LinkPtr& link);
  void lose(const LinkPtr& link, const std::string& reason);
  void close_all();
  void notify_if_flushed();

  runtime::Runtime& runtime_;
  std::shared_ptr<const Peers> peers_;
  const std::uint32_t host_;
  const std::shared_ptr<Detour> detour_;
  const std::shared_ptr<LinkReceiver> receiver_;
  // Reason why the system provides no shared memory; "" if it provides shared memory.
  std::string why_without_memory_;

  runtime::Mutex mutex_;
  bool started_ = false;
  bool closed_ = false;
  runtime::WaitList stopped_;
  LinkTable links_;

  // Used on the services' thread only:
  Door door_;
  Descriptor timer_;
  std::vector<LinkPtr> unanswered_;  // links whose peers did not accept; retry() opens them
  base::Nanos pause_{0};
  int accept_failed_ = 0;  // errno of accept() that was logged last; 0 = none
  // Whether this host has logged that the socket file of a peer belongs to another user.
  bool is_stranger_named_ = false;
  bool has_said_ = false;  // whether the reason for a detour was logged
};

}  // namespace paths
