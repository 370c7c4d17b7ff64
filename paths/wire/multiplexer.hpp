// SPDX-License-Identifier: Apache-2.0
// paths/wire/multiplexer.hpp — one transport for several, each with connections of its own.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "paths/wire/transport.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Shares a host's transport: what comes on a connection goes to whoever made it here, or to whom
/// its first frame is for.
///
/// Owns:    the transport. Outlives its shares.
/// Sharing: any context may call anything.
class Multiplexer final : public Receiver {
 public:
  /// What one of several has of the transport. start() says who receives, and comes before
  /// connect(); stop() gives up its connections, those that peers made included, and nothing else.
  /// It waits until nobody is inside its receiver, which therefore may go then.
  class Share;
  /// Whose a connection is that a peer made, by the first frame that comes on it; null: nobody's,
  /// and the frame is dropped. Called as deliver() is.
  using Route = std::function<Share*(ConnectionId, Frame&)>;
  using TurnedAway = std::function<void(const std::string& source, const std::string& reason)>;
  Multiplexer(std::unique_ptr<Transport> transport, Route route, TurnedAway turned_away);
  ~Multiplexer() override;

  /// As Transport::start() and stop(), for all shares together.
  void start() { transport_->start(*this); }
  void stop() { transport_->stop(); }
  /// For one whose hosts have these numbers, by their index in its own plan.
  std::unique_ptr<Share> share(std::vector<std::uint32_t> numbers);

  void deliver(ConnectionId connection, Frame frame) override;
  void connection_lost(ConnectionId connection, const std::string& reason) override;
  void turned_away(const std::string& source, const std::string& reason) override;

 private:
  Share* enter(ConnectionId connection);
  void leave(Share& share);

  const std::unique_ptr<Transport> transport_;
  const Route route_;
  const TurnedAway turned_away_;
  runtime::Mutex mutex_;
  std::unordered_map<ConnectionId, Share*> shares_;  // by connection
};

class Multiplexer::Share final : public Transport {
 public:
  Share(Multiplexer& all, std::vector<std::uint32_t> numbers);
  ~Share() override;
  void start(Receiver& receiver) override;
  ConnectionId connect(std::uint32_t host, std::uint32_t path) override;
  void send(ConnectionId connection, Frame frame) override;
  void drop(ConnectionId connection) override;
  std::string source(ConnectionId connection) override;
  void stop() override;

 private:
  friend class Multiplexer;
  Multiplexer& all_;
  const std::vector<std::uint32_t> numbers_;
  // Guarded by its mutex:
  Receiver* receiver_ = nullptr;
  std::uint32_t inside_ = 0;
  runtime::WaitList left_;
};

}  // namespace paths
