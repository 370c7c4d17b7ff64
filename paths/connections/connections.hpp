// SPDX-License-Identifier: Apache-2.0
// paths/connections/connections.hpp — a host's connections for one plan: requests, replies, pushes
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "paths/connections/connection_table.hpp"
#include "paths/connections/frame_rules.hpp"
#include "paths/connections/frame_sender.hpp"
#include "paths/connections/goodbyes.hpp"
#include "paths/connections/liveness.hpp"
#include "paths/connections/loss_reports.hpp"
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

/// Carries the operations of one plan between this host and other hosts. Sends requests, replies
/// and pushes as frames over the connections of this host. Receives the frames of the transport and
/// passes each frame to the responsible part of this class.
///
/// Owns: its parts and the transport.
/// Thread-safe: all functions.
class Connections final : public Receiver {
 public:
  /// Function that is called for each request and push of an accepted peer. It must not block. The
  /// owner later replies to a request with FrameSender::reply(), or refuses the peer with
  /// Liveness::refuse().
  using Serve = std::function<void(ConnectionId, Frame&&)>;
  /// Function that is called for each short frame with a request. The first request of a standing
  /// call is a normal frame, and is passed to Serve. All later requests are short frames.
  using ServeShort = std::function<void(ConnectionId, ShortFrame&&)>;
  /// Function that returns the maximum size of a tuple on a path; nullopt if the plan does not
  /// limit the size. The function must be thread-safe, and may be slow.
  using TupleBytesMax = std::function<std::optional<std::uint64_t>(std::uint32_t path)>;
  /// The call of deploy() for which the connections are made. If `needs_all` is true, the call
  /// fails as soon as one peer cannot be reached. The owner must then call Meeting::deploy().
  struct Opening {
    std::shared_ptr<const DeploymentId> id;
    bool needs_all = false;
    TupleBytesMax tuple_bytes_max = nullptr;  ///< nullptr = no limit for the size of tuples
  };
  Connections(runtime::Runtime& runtime, std::shared_ptr<const Peers> peers, std::uint32_t host,
              Opening opening, std::unique_ptr<Transport> transport, RejectionLog& rejections,
              Serve serve, ServeShort serve_short, Liveness::Gone gone);

  void start() { table_.transport().start(*this); }
  /// Stops receiving frames. Does not notify peers.
  /// Requires: Goodbyes::part() has returned, or the run of this host has failed.
  void close() { table_.transport().stop(); }
  /// Connects to `host` for operations that enter `stage` on that host. Does not wait for the peer.
  void meet(std::uint32_t host, StageId stage);
  /// Connects to the hosts in Peers::Peer::meets. No operation uses these connections; they only
  /// show whether those hosts are alive.
  void meet_others();
  /// Returns the connections on which peers may still send operations. These are the connections
  /// that peers made and on which no goodbye has arrived.
  std::vector<ConnectionId> open_arrivals() const;
  /// Returns a sentence that names the peers for which this host stopped waiting; "" if there are
  /// none.
  std::string given_up() const;

  bool watches_peers() const { return table_.watches_peers(); }
  Requests& requests() { return requests_; }
  FrameSender& sender() { return sender_; }
  Meeting& meeting() { return meeting_; }
  LossReports& losses() { return losses_; }
  Liveness& liveness() { return liveness_; }
  Goodbyes& goodbyes() { return goodbyes_; }
  /// Returns the counts of sent frames, separately for each graph.
  const SentTraffic& traffic() const { return traffic_; }

  void deliver(ConnectionId connection, Frame&& frame) override;
  std::uint64_t body_bytes_max(ConnectionId connection, const Frame& head) override;
  void deliver_short(ConnectionId connection, ShortFrame&& frame) override;
  std::shared_ptr<ShortEnd> short_end(ConnectionId connection) override;
  void connection_lost(ConnectionId connection, const std::string& reason) override;

 private:
  friend class ConnectionEnd;
  /// Work for a frame that must be done after the mutex is released.
  struct Verdict {
    bool is_to_be_served = false;
    bool is_peer_gone = false;
    bool has_peer_parted = false;
  };
  Verdict take(Connection& connection, Frame& frame, runtime::DeferredWakes& wakes);
  void take(Connection& connection, ShortFrame&& frame, runtime::Lock held);
  bool greet(Connection& connection, const Frame& hello, runtime::DeferredWakes& wakes);
  bool welcome(Connection& connection, const Frame& frame, runtime::DeferredWakes& wakes);

  mutable ConnectionTable table_;
  SentTraffic traffic_;
  PeerTable peers_;
  SendQueue queue_;
  FrameSender sender_;
  FrameRules rules_;
  Requests requests_;
  Meeting meeting_;
  LossReports losses_;
  Liveness liveness_;
  Goodbyes goodbyes_;
  const TupleBytesMax tuple_bytes_max_;
  // Results of tuple_bytes_max_, keyed by path.
  std::unordered_map<std::uint32_t, std::uint64_t> tuple_bytes_;
  const Serve serve_;
  const ServeShort serve_short_;
};

}  // namespace paths
