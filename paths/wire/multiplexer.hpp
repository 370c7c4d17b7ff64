// SPDX-License-Identifier: Apache-2.0
// paths/wire/multiplexer.hpp — one transport, shared by users with connections of their own
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

/// Numbers in the run of a plan's hosts, by index in the plan; nullptr: index and number are equal.
/// Shared, because copies per host would take memory in the square of the hosts.
using HostNumbers = std::shared_ptr<const std::vector<std::uint32_t>>;

/// Several users of one host need connections of their own on a single transport. A frame goes to
/// the sub-transport that made its connection, or to which that connection was given.
///
/// Owns:        the transport. Must outlive its sub-transports.
/// Thread-safe: yes, from any context.
class Multiplexer final : public Receiver {
 public:
  /// One user's part of the transport. start() sets the receiver and must precede connect(). stop()
  /// drops the connections that this part made and forgets those that peers made. It waits until no
  /// call is inside the receiver, which may then be destroyed.
  class SubTransport;
  /// `others` receives frames of connections without an owner: made by peers and not given yet, or
  /// of a sub-transport that has stopped. It may give these connections away.
  Multiplexer(std::unique_ptr<Transport> transport, Receiver& others);
  ~Multiplexer() override;

  /// As Transport::start() and stop(), for all sub-transports together.
  void start() { transport_->start(*this); }
  void stop() { transport_->stop(); }
  Transport& transport() { return *transport_; }
  /// Makes a part of the transport for a plan whose hosts have these numbers.
  std::unique_ptr<SubTransport> share(HostNumbers numbers = nullptr);

  /// Gives a connection that a peer made to a sub-transport. Returns false if that has stopped.
  /// Otherwise pass_on() must follow with the first frame, and the sub-transport does not stop
  /// before. `source` is the address that was known when that frame arrived, if that was earlier.
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
  runtime::WaitList left_;  // sub-transports that stop, waiting for calls inside their receivers
};

class Multiplexer::SubTransport final : public Transport {
 public:
  SubTransport(Multiplexer& all, HostNumbers numbers);
  ~SubTransport() override;
  void start(Receiver& receiver) override;
  ConnectionId connect(std::uint32_t host, std::uint32_t path) override;
  void send(ConnectionId connection, Frame&& frame) override;
  bool reports_room(std::uint32_t host) const override;
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
  Receiver* receiver_ = nullptr;  // guarded by the mutex, and by inside_ during a call
  std::uint64_t inside_ = 0;      // calls inside the receiver, except those of short ends
  const std::shared_ptr<std::atomic<bool>> is_closed_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace paths
