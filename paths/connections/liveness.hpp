// SPDX-License-Identifier: Apache-2.0
// paths/connections/liveness.hpp — detection of lost peers and connections
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "paths/connections/connection_table.hpp"
#include "paths/connections/frame_sender.hpp"
#include "paths/connections/meeting.hpp"
#include "paths/connections/peer_table.hpp"
#include "paths/connections/send_queue.hpp"
#include "paths/wire/rejection_log.hpp"

namespace paths {

/// Callers must not wait for a peer that can no longer reply. Liveness decides which connections
/// and peers are lost: closed, silent, in breach of the protocol, or refusing this host.
///
/// Callers on a lost connection get its reason as an error.
///
/// Thread-safe: all functions except those that take DeferredWakes, which require the mutex of the
///              table.
class Liveness {
 public:
  /// Called once for each host from which nothing more can arrive, with the reason. `has_closed` is
  /// true if the host sent its goodbye on every connection that the plan has it make. Otherwise a
  /// connection was lost, or one host refused the other. Must not block.
  using Gone = std::function<void(std::uint32_t host, const std::string& reason, bool has_closed)>;
  enum class Which : std::uint8_t { not_met, all };

  /// The parts of a host's connections that Liveness uses. All outlive it.
  struct Parts {
    ConnectionTable& table;
    PeerTable& peers;
    FrameSender& sender;
    SendQueue& queue;
    Meeting& meeting;
    RejectionLog& rejections;
  };
  Liveness(const Parts& parts, Gone gone);

  /// Sends heartbeats to the peers that have not sent their goodbye. Counts a peer as lost if it
  /// sent nothing for one deadline. The owner must call this every look_pause().
  void look_after_peers();
  base::Nanos look_pause() const;
  /// Handles a connection that the transport has lost.
  void take_loss(ConnectionId connection, const std::string& reason);
  void give_up(std::uint32_t peer, const std::string& why);
  /// Refuses the peer on this connection and counts it as gone. `wrong` names what it sent.
  void refuse(ConnectionId connection, const std::string& wrong);
  /// Refuses the peer that replies for `stage`. Returns the error for its callers.
  TravelError refuse_answer(std::uint32_t host, StageId stage, std::uint32_t path,
                            const std::string& wrong);
  /// Closes all connections and sends each peer the reason. Used if deploy() fails or a deployment
  /// is abandoned.
  void abandon(const std::string& why);
  /// Reports to the owner that nothing more will arrive from the peer, unless deploy() has failed.
  void notify_gone(std::uint32_t peer, const std::string& why, bool has_closed);

  void lose(Connection& connection, const std::string& reason, runtime::DeferredWakes& wakes);
  /// Marks connections of a peer as lost. Returns whether the peer was still present.
  bool lose_peer(std::uint32_t peer, Which which, const std::string& why,
                 runtime::DeferredWakes& wakes);
  /// Refuses a known host on all of its connections. Returns whether it was still present.
  bool refuse(Connection& connection, const std::string& wrong, runtime::DeferredWakes& wakes);
  /// Refuses an unknown host, or one whose plan or run differs. Its frames have no effect.
  void reject(Connection& connection, const std::string& wrong, runtime::DeferredWakes& wakes);

 private:
  Parts parts_;
  const Gone gone_;
};

}  // namespace paths
