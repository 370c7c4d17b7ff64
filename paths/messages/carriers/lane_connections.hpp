// SPDX-License-Identifier: Apache-2.0
// paths/messages/carriers/lane_connections.hpp — the connections that lanes of a host go over.
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

/// One connection for each host that something was sent to, one step away, opened when the first
/// frame goes there. What another host sends comes on the connection that it made. Of too many the
/// one that was idle for longest is closed; what then leaves for its host opens one again.
///
/// Why:     of n hosts, n (n - 1) could talk; those that do, each way, are what this grows with.
/// Owns:    its share of the transport.
/// Sharing: any context may call anything; send() one at a time.
class LaneConnections final : public LaneCarrier, public Receiver {
 public:
  /// All outlive it. `lanes` receives; it is called from start() on.
  LaneConnections(runtime::Runtime& runtime, std::shared_ptr<const Peers> peers, std::uint32_t host,
                  std::unique_ptr<Transport> transport, std::size_t connections_most = 256);
  ~LaneConnections() override;

  void start(MessageEndpoint& lanes);
  /// What leaves by a switch goes there, from now on; outlives it.
  void reach(Switches& switches) { switches_ = &switches; }
  void send(std::uint32_t host, LaneFrame frame) override;
  bool tells_of_room(std::uint32_t host) const override;
  bool has_room(std::uint32_t host) override;
  /// Says goodbye on each connection that it made, and waits for the answers: what was sent before
  /// has arrived then. A host that does not answer in time is left behind. Then says goodbye on the
  /// connections that others made, so that they know a host that has ended from one that is gone.
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
  struct Outward {  // that this host made
    ConnectionId id = 0;
    bool is_welcome = false, has_parted = false;
    Silence silence;
    bool has_no_room = false;        ///< and stays: who asked is told on it when it has
    std::uint64_t used = 0;          ///< when: frames are counted
    std::uint64_t end_progress = 0;  ///< the last that its host reported
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
  Switches* switches_ = nullptr;  // null: there are none
  mutable runtime::Mutex mutex_;
  std::map<std::uint32_t, Outward> outward_;  // by host
  std::unordered_map<ConnectionId, std::uint32_t> to_, from_;
  SharedClocks clocks_;
  std::set<std::uint32_t> ended_;   // hosts that said goodbye
  std::set<std::uint32_t> gone_;    // those that were forgotten
  std::set<ConnectionId> closing_;  // that this host made, and does not need any more
  std::uint64_t frames_ = 0;
  bool is_parting_ = false;
  runtime::WaitList parting_;
};

}  // namespace paths
