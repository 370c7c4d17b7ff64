// SPDX-License-Identifier: Apache-2.0
// paths/wire/multiplexer.hpp — one transport, shared by several users with connections of their own
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "paths/wire/transport.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// List of host numbers in the run, indexed by the hosts' indexes in a plan; nullptr if each index
/// equals the number. All hosts of a process share one list.
/// Why: a list for each host would take memory in proportion to the square of the number of hosts.
using HostNumbers = std::shared_ptr<const std::vector<std::uint32_t>>;

/// Lets several users of one host, such as deployments, share one transport. Each user has a
/// sub-transport with connections of its own. An incoming frame goes to the sub-transport that owns
/// the connection of the frame. A sub-transport owns the connections that it made, and those that
/// give() has given to it.
///
/// Owns:        the transport. The multiplexer must outlive its sub-transports.
/// Thread-safe: yes.
class Multiplexer final : public Receiver {
 public:
  /// One user's part of the transport. The user must call start(), which sets the receiver, before
  /// connect(). stop() drops the connections that the sub-transport has made, and forgets the
  /// connections that peers have made. Then stop() blocks until no call is inside the receiver.
  /// After stop() the receiver may be destroyed.
  class SubTransport;
  /// `others` receives the frames of connections that no sub-transport owns. A connection that a
  /// peer made has no owner before give(). A connection loses its owner when its sub-transport
  /// stops. `others` may call give() for a connection without an owner.
  Multiplexer(std::unique_ptr<Transport> transport, Receiver& others);

  /// Starts and stops the transport of all sub-transports.
  void start() { transport_->start(*this); }
  void stop() { transport_->stop(); }
  Transport& transport() { return *transport_; }
  /// Makes a sub-transport for a plan. `numbers` contains the numbers of the plan's hosts in the
  /// run.
  std::unique_ptr<SubTransport> share(HostNumbers numbers = nullptr);

  /// Gives a connection that a peer has made to the sub-transport `share`. Returns false if `share`
  /// has stopped. If give() returns true, the caller must call pass_on() with the first frame.
  /// stop() of `share` waits for this call. `source` is the peer's address, if the caller read it
  /// when the first frame arrived.
  bool give(ConnectionId connection, SubTransport& share, std::optional<std::string> source = {});
  void pass_on(ConnectionId connection, SubTransport& share, Frame&& frame);

  void deliver(ConnectionId connection, Frame&& frame) override;
  std::uint64_t body_bytes_max(ConnectionId connection, const Frame& head) override;
  void deliver_short(ConnectionId connection, ShortFrame&& frame) override;
  std::shared_ptr<ShortEnd> short_end(ConnectionId connection) override;
  void room_made(ConnectionId connection) override;
  void connection_lost(ConnectionId connection, const std::string& reason) override;
  void turned_away(const std::string& source, const std::string& reason) override;

 private:
  struct Owner {
    SubTransport* share = nullptr;
    bool is_ours = false;
    std::optional<std::string> source = {};
  };
  class Inside;
  class End;
  SubTransport* enter(ConnectionId connection);
  void leave(SubTransport& share);

  const std::unique_ptr<Transport> transport_;
  Receiver& others_;
  runtime::Mutex mutex_;
  std::unordered_map<ConnectionId, Owner> owners_;
  // Callers of stop() that wait until no call is inside the receiver of their sub-transport.
  runtime::WaitList left_;
};

class Multiplexer::SubTransport final : public Transport {
 public:
  SubTransport(Multiplexer& all, HostNumbers numbers);
  ~SubTransport() override;
  void start(Receiver& receiver) override;
  ConnectionId connect(std::uint32_t host) override;
  void send(ConnectionId connection, Frame&& frame) override;
  bool reports_room(std::uint32_t host) const override;
  bool has_room(ConnectionId connection) override;
  std::shared_ptr<ShortWay> short_way(ConnectionId connection) override;
  void drop(ConnectionId connection) override;
  std::string source(ConnectionId connection) override;
  PeerContact contact(ConnectionId connection) override;
  void stop() override;

 private:
  friend class Multiplexer;
  std::uint32_t number_of(std::uint32_t host) const { return numbers_ ? (*numbers_)[host] : host; }
  Multiplexer& all_;
  const HostNumbers numbers_;
  Receiver* receiver_ = nullptr;  // guarded by the mutex; stays valid while inside_ > 0
  std::uint64_t inside_ = 0;      // number of calls inside receiver_, without ShortEnd::deliver()
  const std::shared_ptr<std::atomic<bool>> is_closed_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace paths
