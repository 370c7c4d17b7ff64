// SPDX-License-Identifier: Apache-2.0
// paths/messages/carriers/lane_connections.hpp — connections that carry a host's lanes
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "paths/messages/carriers/control_frames.hpp"
#include "paths/messages/carriers/lane_liveness.hpp"
#include "paths/messages/carriers/shared_clocks.hpp"
#include "paths/messages/carriers/switches.hpp"
#include "paths/messages/message_endpoint.hpp"
#include "paths/wire/peers.hpp"
#include "paths/wire/refusal.hpp"
#include "paths/wire/rejection_log.hpp"
#include "paths/wire/transport.hpp"
#include "paths/wire/transports.hpp"

namespace paths {

/// Carries the lanes of one host over connections. Opens a connection to a host when the first
/// frame for this host leaves, because most pairs of hosts never exchange messages.
///
/// A connection carries messages in one direction only, away from the host that made it. Each host
/// accepts at most one connection from each other host, and refuses a second connection. Before
/// this host opens a connection beyond the number `connections_most`, it closes the connection that
/// was idle for longest. A later frame to the same host opens a new connection.
///
/// Owns: its part of the transport.
/// Thread-safe: all functions; calls of send() must not overlap.
class LaneConnections final : public LaneCarrier, public Receiver {
 public:
  /// Requires: `runtime`, `log` and the endpoint that is passed to start() outlive this object.
  LaneConnections(runtime::Runtime& runtime, std::shared_ptr<const Peers> peers, std::uint32_t host,
                  std::unique_ptr<Transport> transport, RejectionLog& log,
                  std::size_t connections_most = lane_connections_most);
  ~LaneConnections() override;

  void start(MessageEndpoint& lanes);
  /// Sets the emulated switches of this process. They receive the frames that this host sends to
  /// switches.
  /// Requires: `switches` outlives this object.
  void reach(Switches& switches) { switches_ = &switches; }
  void send(std::uint32_t host, LaneFrame frame) override;
  bool reports_room(std::uint32_t host) const override;
  bool has_room(std::uint32_t host) override;
  /// Sends a goodbye on each connection that this host made, and waits for the replies. A reply
  /// shows that all earlier frames have arrived. Then sends a goodbye on each connection that
  /// another host made, so that the other host does not report a loss. Finally stops sending signs
  /// of life.
  /// Blocks: until all replies have arrived, at most until the deadline.
  void part(runtime::Deadline deadline);
  /// Stops receiving and sending.
  /// Requires: the endpoint that was passed to start() still exists.
  void stop();

  std::set<std::uint32_t> silent() const override;
  std::map<std::uint32_t, std::string> look_after(base::Nanos silent_max) override;
  std::uint64_t end_progress(std::uint32_t host) const override;
  void forget(std::uint32_t host) override;
  bool has_heard(std::uint32_t host) const override;
  std::size_t connections() const;

  void deliver(ConnectionId connection, Frame&& frame) override;
  std::uint64_t body_bytes_max(ConnectionId connection, const Frame& head) override;
  void room_made(ConnectionId connection) override;
  void connection_lost(ConnectionId connection, const std::string& reason) override;

 private:
  struct Outward {  // a connection made by this host
    ConnectionId id = 0;
    bool is_welcome = false, has_closed = false;
    /// Connection that is being closed: close_idle() has sent a goodbye, and the peer has not
    /// replied yet. nullopt if no connection is being closed.
    std::optional<ConnectionId> closing = {};
    std::vector<Frame> waiting = {};  ///< frames that the next connection will send
    bool is_closing() const { return closing.has_value(); }
    /// Ends the use of the connection because the peer is lost. Drops the frames in `waiting`.
    void end() {
      has_closed = true;
      closing.reset();
      waiting.clear();
    }
    bool has_no_room = false;        ///< whether the transport last reported no room for frames
    std::uint64_t used = 0;          ///< value of frames_sent_ at the last frame to the peer
    std::uint64_t end_progress = 0;  ///< MessageEndpoint::end_progress() in the latest welcome
  };
  void greet(ConnectionId connection, const Frame& hello);
  ConnectionId connect(std::uint32_t host);
  void close_idle();
  void finish_closing(std::uint32_t host);
  void break_off(ConnectionId connection, std::uint32_t host, const std::string& why);
  void answered(ConnectionId connection, const LaneFrame& frame);

  runtime::Runtime& runtime_;
  const std::shared_ptr<const Peers> peers_;
  const std::uint32_t host_;
  const std::unique_ptr<Transport> transport_;
  const std::size_t connections_most_;
  MessageEndpoint* lanes_ = nullptr;
  Switches* switches_ = nullptr;  // nullptr if this process emulates no switches
  mutable runtime::Mutex mutex_;
  std::map<std::uint32_t, Outward> outward_;  // connections that this host made, keyed by peer
  // Peer of each connection, keyed by connection. to_ has the connections that this host made, and
  // from_ has the connections that peers made.
  std::unordered_map<ConnectionId, std::uint32_t> to_, from_;
  LaneLiveness liveness_;
  SharedClocks clocks_;
  const ControlFrames frames_;
  // Hosts whose first connection this host has accepted. A host stays in the set even if its
  // connection is lost.
  std::set<std::uint32_t> connected_;
  std::set<std::uint32_t> ended_;  // hosts that have reported their end by a goodbye
  std::set<std::uint32_t> gone_;   // hosts that were lost
  std::uint64_t frames_sent_ = 0;
  bool is_parting_ = false;
  runtime::Task beats_;  // task that sends signs of life and detects silent peers
  runtime::WaitList parting_;
};

}  // namespace paths
