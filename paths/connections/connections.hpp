// SPDX-License-Identifier: Apache-2.0
// paths/connections/connections.hpp — requests, replies and pushes of one host, as frames.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "paths/connections/connection_table.hpp"
#include "paths/connections/frame_rules.hpp"
#include "paths/connections/frame_sender.hpp"
#include "paths/connections/goodbyes.hpp"
#include "paths/connections/liveness.hpp"
#include "paths/connections/meeting.hpp"
#include "paths/connections/peer_table.hpp"
#include "paths/connections/requests.hpp"
#include "paths/connections/send_queue.hpp"
#include "paths/connections/sent_traffic.hpp"
#include "paths/wire/frame.hpp"
#include "paths/wire/peers.hpp"
#include "paths/wire/rejection_log.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// The connections of a host to other hosts, for the paths of one plan. Owns the parts, and takes
/// the frames that come in.
///
/// Sharing: any context may call anything.
class Connections final : public Receiver {
 public:
  /// Called for every request and push of a peer that was welcomed. Must not block. Replies to a
  /// request later with FrameSender::reply(), or refuses the peer with Liveness::refuse().
  using Serve = std::function<void(ConnectionId, Frame&&)>;
  /// The same for a request of a standing call, whose first one was served.
  using ServeShort = std::function<void(ConnectionId, ShortFrame&&)>;
  /// Which call of deploy() the connections are of, and whether it fails as soon as one peer cannot
  /// be met: then Meeting::deploy() is to follow.
  struct Opening {
    std::shared_ptr<const DeploymentId> id;
    bool needs_all = false;
  };
  Connections(runtime::Runtime& runtime, std::shared_ptr<const Peers> peers, std::uint32_t host,
              Opening opening, std::unique_ptr<Transport> transport, RejectionLog& rejections,
              Serve serve, ServeShort serve_short, Liveness::Gone gone);
  ~Connections() override;

  void start() { table_.transport().start(*this); }
  /// Delivers nothing from now on, and tells no peer. For after Goodbyes::part(), and for a host
  /// whose run failed.
  void close() { table_.transport().stop(); }
  /// Connects to `host`, where what leaves for `stage` will go; does not wait for it.
  void meet(std::uint32_t host, StageId stage);
  /// The same for hosts to which nothing will go. The connections only show whether they are there.
  void meet_others();
  /// Returns the connections that peers made and on which they have not said goodbye.
  std::vector<ConnectionId> open_arrivals() const;
  /// Returns in one sentence which peers had to be given up; "" if none.
  std::string given_up() const;

  Requests& requests() { return requests_; }
  FrameSender& sender() { return sender_; }
  const FrameSender& sender() const { return sender_; }
  Meeting& meeting() { return meeting_; }
  Liveness& liveness() { return liveness_; }
  Goodbyes& goodbyes() { return goodbyes_; }
  /// Returns counts of the frames that were sent for each graph. Frames that belong to no path are
  /// only in the total.
  const SentTraffic& traffic() const { return traffic_; }

  void deliver(ConnectionId connection, Frame&& frame) override;
  void deliver_short(ConnectionId connection, ShortFrame&& frame) override;
  std::shared_ptr<ShortEnd> short_end(ConnectionId connection) override;
  void connection_lost(ConnectionId connection, const std::string& reason) override;

 private:
  friend class ConnectionEnd;
  /// Work about a frame that needs the mutex released.
  struct Verdict {
    bool is_to_be_served = false;
    bool is_peer_gone = false;
    bool has_peer_parted = false;
  };
  Verdict take(Connection& connection, Frame& frame, runtime::DeferredWakes& wakes);
  void take(Connection& connection, ShortFrame&& frame, runtime::Lock held);
  bool greet(Connection& connection, const Frame& hello, runtime::DeferredWakes& wakes);
  void welcome(Connection& connection, const Frame& frame, runtime::DeferredWakes& wakes);

  mutable ConnectionTable table_;
  SentTraffic traffic_;
  PeerTable peers_;
  SendQueue queue_;
  FrameSender sender_;
  FrameRules rules_;
  Requests requests_;
  Meeting meeting_;
  Liveness liveness_;
  Goodbyes goodbyes_;
  const Serve serve_;
  const ServeShort serve_short_;
};

}  // namespace paths
