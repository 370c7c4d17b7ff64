// SPDX-License-Identifier: Apache-2.0
// paths/wire/shared_memory/link_receiver.hpp — receiving of frames from the links of one host
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "paths/wire/peers.hpp"
#include "paths/wire/shared_memory/link.hpp"
#include "paths/wire/shared_memory/link_table.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/polling/poller.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Receives the frames of the shared-memory links of one host, and passes them to a Receiver.
/// Owns:        nothing but the list of links. Callbacks of the runtime hold this object until the
///              last callback has returned.
/// Thread-safe: yes. One thread at a time receives. If a thread of this host polls while it waits,
///              this thread receives. Otherwise the services' thread receives; it sleeps until a
///              peer wakes it. Peers wake it only if no thread of this host polls.
/// Locks:       must be locked in this order: receiving_, the receiver's lock, a link's lock.
class LinkReceiver final : public runtime::Poller,
                           public std::enable_shared_from_this<LinkReceiver> {
 public:
  /// Function that is called when the peer of a link has broken the protocol. It must not end the
  /// link immediately, because the caller may hold locks that receivers need.
  using OnWrong = std::function<void(const LinkPtr& link, const std::string& reason)>;

  LinkReceiver(runtime::Runtime& runtime, std::shared_ptr<const Peers> peers)
      : runtime_(runtime), peers_(std::move(peers)) {}

  /// Flag that peers read to learn whether a thread of this host polls. Empty if the system
  /// provides no shared memory. Set before start().
  PollingFlag sign;

  /// Begins to receive. `on_receipt` is called after each time that links were checked, but only
  /// once report_receipts() was called.
  void start(Receiver& receiver, OnWrong on_wrong, std::function<void()> on_receipt);
  void report_receipts() { reports_receipts_ = true; }
  /// Runs `act(receiver)` while no thread receives. `receiver` is nullptr before start() and after
  /// end(). Then receives the frames that other threads could not receive during this time, because
  /// receiving_ was locked.
  template <class Act>
  void alone(Act act);
  /// Waits until no thread receives. The services' thread (whose fibers do work for other hosts)
  /// handles the frames that arrive during the wait.
  void settle();
  /// Arranges that the services' thread checks the links soon.
  void look_soon();
  /// Checks the links. Services' thread only.
  void look_once();
  /// Arranges a later notification of the connections that wait for room. The notification cannot
  /// happen now, because the calling thread or fiber may hold locks that receivers need.
  void notify_soon_of_own_room(const Link& link) {
    if (link.has_room_for_waiters()) look_soon();
  }

  void begin_polling() override {
    if (sign) sign.begin_polling();
  }
  bool poll() override { return receive().value_or(false); }
  void end_polling() override;

  // The functions below may be called within alone() only.
  void add(const LinkPtr& link);
  void remove(const LinkPtr& link) { std::erase(begun_, link); }
  /// Forgets the receiver and all links.
  void end();
  bool receive_from(const LinkPtr& link);
  /// Notifies the connections that wait for room. Their receivers may send frames immediately.
  void notify_of_own_room(const LinkPtr& link);
  /// Stops reading from a link whose peer broke the protocol, and calls OnWrong.
  void refuse(const LinkPtr& link, const std::string& wrong);

 private:
  std::optional<bool> receive();
  bool receive_next(const LinkPtr& link);
  void deliver_short(Link& link, std::uint32_t connection, ShortFrame&& frame);

  runtime::Runtime& runtime_;
  const std::shared_ptr<const Peers> peers_;

  runtime::Mutex receiving_;  // guards the next three members
  Receiver* receiver_ = nullptr;
  std::vector<LinkPtr> begun_;
  OnWrong on_wrong_;
  std::function<void()> on_receipt_;
  std::atomic<bool> reports_receipts_{false};
  // Whether the thread that has locked receiving_ must check the links again before it stops.
  std::atomic<bool> look_again_{false};
  std::atomic<bool> looks_soon_{false};  // whether the services' thread is about to check the links
};

template <class Act>
void LinkReceiver::alone(Act act) {
  {
    const runtime::Lock lock(receiving_);
    act(receiver_);
  }
  runtime::show_unlocked();
  if (look_again_.load()) receive();
}

}  // namespace paths
