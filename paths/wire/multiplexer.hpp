// SPDX-License-Identifier: Apache-2.0
// paths/wire/multiplexer.hpp — one transport for several, each with connections of its own.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "paths/wire/transport.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// The numbers in the run of a plan's hosts, by their index in the plan; null: index and number are
/// the same. Shared, because a copy for each host would grow with the square of the hosts.
using HostNumbers = std::shared_ptr<const std::vector<std::uint32_t>>;

/// Shares a host's transport: what comes on a connection goes to whoever made it here, or to whom
/// it was given.
///
/// Owns:    the transport. Outlives its shares.
/// Sharing: any context may call anything.
class Multiplexer final : public Receiver {
 public:
  /// What one of several has of the transport. start() says who receives, and comes before
  /// connect(); stop() gives up the connections that it made and forgets those that peers made. It
  /// waits until nobody is inside its receiver, which therefore may go then.
  class SubTransport;
  /// Gets what comes on connections that are nobody's: made by peers, and not given yet, or of one
  /// that has stopped. May give them.
  Multiplexer(std::unique_ptr<Transport> transport, Receiver& others);
  ~Multiplexer() override;

  /// As Transport::start() and stop(), for all shares together.
  void start() { transport_->start(*this); }
  void stop() { transport_->stop(); }
  Transport& transport() { return *transport_; }
  /// A part of the transport for a plan whose hosts have these numbers.
  std::unique_ptr<SubTransport> share(HostNumbers numbers = nullptr);

  /// Gives a connection that a peer made; false when the share has stopped. Otherwise pass_on() is
  /// to follow, with the first frame, and until then the share does not stop. `source` when that
  /// frame came a while ago: what was said then.
  bool give(ConnectionId connection, SubTransport& share, std::optional<std::string> source = {});
  void pass_on(ConnectionId connection, SubTransport& share, Frame&& frame);

  void deliver(ConnectionId connection, Frame&& frame) override;
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
  runtime::WaitList left_;  // shares that stop, for those inside their receivers
};

class Multiplexer::SubTransport final : public Transport {
 public:
  SubTransport(Multiplexer& all, HostNumbers numbers);
  ~SubTransport() override;
  void start(Receiver& receiver) override;
  ConnectionId connect(std::uint32_t host, std::uint32_t path) override;
  void send(ConnectionId connection, Frame&& frame) override;
  bool tells_of_room(std::uint32_t host) const override;
  bool has_room(ConnectionId connection) override;
  std::shared_ptr<ShortWay> short_way(ConnectionId connection) override;
  void drop(ConnectionId connection) override;
  std::string source(ConnectionId connection) override;
  void stop() override;

 private:
  friend class Multiplexer;
  std::uint32_t number_of(std::uint32_t host) const { return numbers_ ? (*numbers_)[host] : host; }
  Multiplexer& all_;
  const HostNumbers numbers_;
  Receiver* receiver_ = nullptr;  // guarded by its mutex; of those inside, by that
  std::uint64_t inside_ = 0;      // it, but for its ends
  const std::shared_ptr<std::atomic<bool>> is_closed_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace paths
