// SPDX-License-Identifier: Apache-2.0
// paths/messages/carriers/lane_connections.hpp — connections that carry a host's lanes
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "paths/messages/carriers/shared_clocks.hpp"
#include "paths/messages/carriers/switches.hpp"
#include "paths/messages/message_endpoint.hpp"
#include "paths/wire/peers.hpp"
#include "paths/wire/rejection_log.hpp"
#include "paths/wire/silence.hpp"
#include "paths/wire/transport.hpp"

namespace paths {

/// The n hosts of a run have n (n - 1) directed pairs, but few of them exchange messages.
/// LaneConnections opens one connection to each host one step away, when the first frame leaves
/// for it.
///
/// Frames of another host arrive on the connection that it made. Above `connections_most`
/// connections, the one that was idle for longest is closed; a later frame opens one again.
///
/// Owns: its share of the transport.
/// Thread-safe: all functions; calls of send() must not overlap.
class LaneConnections final : public LaneCarrier, public Receiver {
 public:
  /// All arguments outlive it. `lanes` receives frames from start() on.
  LaneConnections(runtime::Runtime& runtime, std::shared_ptr<const Peers> peers, std::uint32_t host,
                  std::unique_ptr<Transport> transport, std::size_t connections_most = 256);
  ~LaneConnections() override;

  void start(MessageEndpoint& lanes);
  /// Sets the switches of this process, which then take frames to switches. `switches` outlives it.
  void reach(Switches& switches) { switches_ = &switches; }
  void send(std::uint32_t host, LaneFrame frame) override;
  bool reports_room(std::uint32_t host) const override;
  bool has_room(std::uint32_t host) override;
  /// Sends a goodbye on each connection that this host made, and waits for the replies. Everything
  /// sent before has then arrived. Does not wait beyond the deadline. Then sends a goodbye on the
  /// connections that others made, so that they can tell an ended host from a lost one.
  void part(runtime::Deadline deadline);
  void stop() { transport_->stop(); }

  std::set<std::uint32_t> silent() const override;
  std::set<std::uint32_t> look_after(std::uint32_t silent_looks_max) override;
  std::uint64_t end_progress(std::uint32_t host) const override;
  void forget(std::uint32_t host) override;
  std::size_t connections() const;

  void deliver(ConnectionId connection, Frame&& frame) override;
  void room_made(ConnectionId connection) override;
  void connection_lost(ConnectionId connection, const std::string& reason) override;

 private:
  struct Outward {  // a connection made by this host
    ConnectionId id = 0;
    bool is_welcome = false, has_closed = false;
    Silence silence;
    bool has_no_room = false;        ///< whether room_made() must report room later
    std::uint64_t used = 0;          ///< frame count at the last use
    std::uint64_t end_progress = 0;  ///< latest report of its host
  };
  Frame frame_of(LaneFrame lane) const;
  Frame frame_of(LaneKind kind) const;
  void greet(ConnectionId connection, const Frame& hello);
  Frame goodbye(bool is_of_host) const;
  ConnectionId connection_to(std::uint32_t host);
  void close_idle();
  void answered(ConnectionId connection, const LaneFrame& frame);
  void wait_for_goodbyes(runtime::Deadline deadline);

  runtime::Runtime& runtime_;
  const std::shared_ptr<const Peers> peers_;
  const std::uint32_t host_;
  const std::unique_ptr<Transport> transport_;
  const std::size_t connections_most_;
  RejectionLog rejections_;
  MessageEndpoint* lanes_ = nullptr;
  Switches* switches_ = nullptr;  // nullptr if there are none
  mutable runtime::Mutex mutex_;
  std::map<std::uint32_t, Outward> outward_;  // indexed by host
  std::unordered_map<ConnectionId, std::uint32_t> to_, from_;
  SharedClocks clocks_;
  std::set<std::uint32_t> ended_;   // hosts that sent their goodbye
  std::set<std::uint32_t> gone_;    // hosts passed to forget()
  std::set<ConnectionId> closing_;  // idle connections that this host is closing
  std::uint64_t frames_ = 0;
  bool is_parting_ = false;
  runtime::WaitList parting_;
};

}  // namespace paths
