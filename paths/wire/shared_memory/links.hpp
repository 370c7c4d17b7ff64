// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/links.hpp — all links of one host, and who receives.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "paths/wire/peers.hpp"
#include "paths/wire/shared_memory/link.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/runtime.hpp"
#include "runtime/scheduler/poller.hpp"

namespace paths {

/// Whoever is called back by the runtime holds it, so that it outlives the transport until the last
/// call is over.
///
/// Sharing: one at a time receives: a thread that waits, or else the services' thread, which sleeps
///          until a peer finds that nobody looks and wakes it. That thread alone opens and closes.
/// Locks:   receiving_, then those of the receiver, then mutex_, then those of a link.
class Links final : public runtime::Poller, public std::enable_shared_from_this<Links> {
 public:
  Links(runtime::Runtime& runtime, std::shared_ptr<const Peers> peers, std::uint32_t host,
        std::shared_ptr<Detour> detour)
      : runtime_(runtime), peers_(std::move(peers)), host_(host), detour_(std::move(detour)) {}

  // From any context.
  void start(Receiver& receiver);
  ConnectionId connect(std::uint32_t host);
  void send(ConnectionId connection, const Frame& frame);
  std::shared_ptr<ShortWay> short_way(ConnectionId connection);
  bool has_room(ConnectionId connection);
  void drop(ConnectionId connection);
  void settle();
  void stop();

  void begin_polling() override {
    if (sign_) sign_.begin_polling();
  }
  bool poll() override { return receive().value_or(false); }
  void end_polling() override;

 private:
  using LinkPtr = std::shared_ptr<Link>;
  class Way;
  template <class AnyFrame>
  void send_on(const LinkPtr& link, ConnectionId connection, const AnyFrame& frame);
  LinkPtr find(ConnectionId connection);
  LinkPtr new_link(std::optional<std::uint32_t> host);
  void watch(int descriptor, void (Links::*on_readable)());
  const std::string& name_of(const Link& link) const { return peers_->hosts[*link.host].name; }

  // On the services' thread:
  void open(LinkPtr link);
  bool forget_unused(const LinkPtr& link);
  void forget(const LinkPtr& link);
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

  // By the one that receives:
  std::optional<bool> receive();
  bool receive_from(const LinkPtr& link);
  void tell_of_own_room(const LinkPtr& link);
  void tell_soon_of_own_room(const Link& link);
  bool receive_next(const LinkPtr& link);
  void deliver_short(Link& link, std::uint32_t connection, ShortFrame&& frame);
  void refuse(const LinkPtr& link, const std::string& wrong);
  void look_soon();
  void tell_if_flushed();
  bool is_flushed();

  runtime::Runtime& runtime_;
  std::shared_ptr<const Peers> peers_;
  const std::uint32_t host_;
  const std::shared_ptr<Detour> detour_;
  PollingFlag sign_;                // none where the system refuses memory
  std::string why_without_memory_;  // then

  runtime::Mutex receiving_;
  Receiver* receiver_ = nullptr;
  std::vector<LinkPtr> begun_;
  std::atomic<bool> look_again_{false};  // for who holds receiving_
  std::atomic<bool> looks_soon_{false};  // the services' thread will

  runtime::Mutex mutex_;
  bool started_ = false;
  bool closed_ = false;
  std::atomic<bool> is_stopping_{false};
  runtime::WaitList stopped_;
  std::uint32_t next_link_ = 1;
  std::unordered_map<std::uint32_t, LinkPtr> links_;     // by number
  std::unordered_map<std::uint32_t, LinkPtr> links_to_;  // by host

  // Of the services' thread:
  Descriptor listening_;
  Descriptor timer_;
  std::vector<LinkPtr> unanswered_;  // to be opened again
  base::Nanos pause_{0};
  int accept_failed_ = 0;  // the latest error of accept()
  bool has_said_ = false;  // that some frames take the detour
};

/// While nobody receives; what others then found locked is looked at behind it.
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
