// SPDX-License-Identifier: Apache-2.0
// paths/connections.hpp — requests, replies and pushes of one host, over one-way frames with credits.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "paths/frame.hpp"
#include "paths/plan.hpp"
#include "paths/transport.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Frames that left a host, counted once where they are sent.
struct Traffic {
  std::uint64_t messages = 0;  ///< requests, replies, errors, pushes
  std::uint64_t bytes = 0;     ///< their payloads
  std::uint64_t control = 0;   ///< handshakes, credits, releases, this count itself: messages
  Traffic& operator+=(const Traffic& other);
};

/// All that a host says to other hosts and hears from them.
///
/// Credits: each request and push uses one; they come back riding on replies, alone only when
///          half of them would be on their way back. Requests wait for credits. A push does not:
///          while it waits, a newer one of the same path replaces it.
/// Sharing: any context may call anything.
class Connections final : public Receiver {
 public:
  /// `serve` is called for every request and push that came in, must not block, and answers a
  /// request by reply() later.
  using Serve = std::function<void(ConnectionId, Frame)>;
  Connections(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan, std::uint32_t host,
              std::unique_ptr<Transport> transport, Serve serve);
  ~Connections() override;

  void start() { transport_->start(*this); }
  void stop() { transport_->stop(); }

  /// Blocks for the reply; throws TravelError when it is one, or the peer is gone or late.
  Result call(std::uint32_t to_host, StageId stage, Operation operation,
              runtime::Deadline deadline);
  void push(std::uint32_t to_host, StageId stage, Operation operation);
  void reply(ConnectionId connection, Frame frame);

  /// What was sent for the paths of one graph (an index into Plan::graphs), to other clusters and
  /// in all. What belongs to no path, such as handshakes, is in `traffic()` only.
  Traffic wan_traffic(std::uint32_t graph) const;
  Traffic traffic(std::uint32_t graph) const;
  Traffic traffic() const;

  void deliver(ConnectionId connection, Frame frame) override;
  void connection_lost(ConnectionId connection, const std::string& reason) override;

  static constexpr std::uint32_t window = 256;  ///< credits a connection begins with

 private:
  struct Call;
  struct Connection;
  struct Outgoing {  // frames to send once the lock is let go
    std::vector<std::pair<ConnectionId, Frame>> frames;
  };
  Connection& connection_to(std::uint32_t host, StageId stage, Outgoing& outgoing);
  Connection& inbound(ConnectionId id);
  void post(Connection& connection, Frame frame, Outgoing& outgoing);
  void take_credits(Connection& connection, std::uint32_t credits, runtime::Wakes& wakes,
                    Outgoing& outgoing);
  void greet(Connection& connection, const Frame& frame, Outgoing& outgoing);
  void answer(Connection& connection, Frame frame, runtime::Wakes& wakes);
  void lose(Connection& connection, const std::string& reason, runtime::Wakes& wakes);
  void send(Outgoing& outgoing);
  Frame frame_of(FrameKind kind) const;
  TravelError gone(const Connection& connection, const Operation& operation) const;

  runtime::Runtime& runtime_;
  std::shared_ptr<const Plan> plan_;
  const std::uint32_t host_;
  std::unique_ptr<Transport> transport_;
  Serve serve_;
  mutable runtime::Mutex mutex_;
  std::unordered_map<ConnectionId, std::unique_ptr<Connection>> connections_;
  std::map<std::pair<std::uint32_t, StageId>, Connection*> by_destination_;
  struct Counted {
    Traffic all;
    Traffic wan;
  };
  std::vector<Counted> counted_;  // per graph, then what belongs to none
};

}  // namespace paths
