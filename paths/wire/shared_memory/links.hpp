// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/links.hpp — all shared-memory links of one host
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "paths/wire/peers.hpp"
#include "paths/wire/shared_memory/link.hpp"
#include "paths/wire/shared_memory/link_table.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/polling/poller.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// All shared-memory links of one host. Opens and accepts links, sends frames on the links, and
/// delivers the frames that arrive on the links.
/// Owns:        the links. Callbacks of the runtime hold this object until the last callback has
///              returned, even after the transport is destroyed.
/// Thread-safe: yes. One thread at a time receives. If a thread of this host polls while it waits,
///              this thread receives. Otherwise the services' thread receives; it sleeps until a
///              peer wakes it. Peers wake it only if no thread of this host polls. Only the
///              services' thread opens and closes links.
/// Locks:       must be locked in this order: receiving_, the receiver's lock, mutex_, the lock of
///              links_, a link's lock.
class Links final : public runtime::Poller, public std::enable_shared_from_this<Links> {
 public:
  Links(runtime::Runtime& runtime, std::shared_ptr<const Peers> peers, std::uint32_t host,
        std::shared_ptr<Detour> detour)
      : runtime_(runtime), peers_(std::move(peers)), host_(host), detour_(std::move(detour)) {}

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
  void settle();
  void stop();

  void begin_polling() override {
    if (sign_) sign_.begin_polling();
  }
  bool poll() override { return receive().value_or(false); }
  void end_polling() override;

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
  void look_once();
  void lose(const LinkPtr& link, const std::string& reason);
  void close_all();

  template <class Act>
  void alone(Act act);

  // On the thread that receives:
  std::optional<bool> receive();
  bool receive_from(const LinkPtr& link);
  void notify_of_own_room(const LinkPtr& link);
  void notify_soon_of_own_room(const Link& link);
  bool receive_next(const LinkPtr& link);
  void deliver_short(Link& link, std::uint32_t connection, ShortFrame&& frame);
  void refuse(const LinkPtr& link, const std::string& wrong);
  void look_soon();
  void notify_if_flushed();

  runtime::Runtime& runtime_;
  std::shared_ptr<const Peers> peers_;
  const std::uint32_t host_;
  const std::shared_ptr<Detour> detour_;
  PollingFlag sign_;                // empty if the system provides no shared memory
  std::string why_without_memory_;  // reason why sign_ is empty; "" if it is not empty

  runtime::Mutex receiving_;
  Receiver* receiver_ = nullptr;
  std::vector<LinkPtr> begun_;
  // Whether the thread that has locked receiving_ must check the links again before it stops.
  std::atomic<bool> look_again_{false};
  std::atomic<bool> looks_soon_{false};  // whether the services' thread is about to check the links

  runtime::Mutex mutex_;
  bool started_ = false;
  bool closed_ = false;
  std::atomic<bool> is_stopping_{false};
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

/// Runs `act` while no thread receives. Then receives the frames that other threads could not
/// receive during this time, because receiving_ was locked.
template <class Act>
void Links::alone(Act act) {
  {
    const runtime::Lock lock(receiving_);
    act();
  }
  runtime::show_unlocked();
  if (look_again_.load()) receive();
}

}  // namespace paths
