// SPDX-License-Identifier: Apache-2.0
// paths/connections/liveness.hpp — decides which peers are lost.
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

/// Decides which connections and which peers are lost: those that closed, that are silent, that
/// sent what they may not, or that refused this host. The callers of a lost connection get its
/// reason.
///
/// Sharing: functions that take Wakes require the mutex of the table. Any context may call all
///          others.
class Liveness {
 public:
  /// Called once for a host from which nothing more can come, with the reason. `has_parted` is true
  /// if the host said goodbye on every connection that the plan has it make. Otherwise one of its
  /// connections is lost, or one host refused the other. Must not block.
  using Gone = std::function<void(std::uint32_t host, const std::string& reason, bool has_parted)>;
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

  /// Asks peers that have not released their paths for a sign of life. A peer that gave none for a
  /// deadline is lost. To be called every look_pause().
  void look_after_peers();
  base::Nanos look_pause() const;
  /// The transport has lost a connection.
  void take_loss(ConnectionId connection, const std::string& reason);
  void give_up(std::uint32_t peer, const std::string& why);
  /// Tells the peer on this connection that it sent what it may not, and counts it as gone.
  void refuse(ConnectionId connection, const std::string& wrong);
  /// The same of the peer that answers for `stage`. Returns the error for its callers.
  TravelError refuse_answer(std::uint32_t host, StageId stage, std::uint32_t path,
                            const std::string& wrong);
  /// Tells every peer why, and gives up all connections: of a call that failed, or a deployment
  /// that was left.
  void abandon(const std::string& why);
  /// Tells the owner that nothing more comes from the peer, unless the call of deploy() has failed.
  void tell_gone(std::uint32_t peer, const std::string& why, bool has_parted);

  void lose(Connection& connection, const std::string& reason, runtime::DeferredWakes& wakes);
  /// Loses connections of a peer. Returns whether the peer was not gone before.
  bool lose_peer(std::uint32_t peer, Which which, const std::string& why,
                 runtime::DeferredWakes& wakes);
  /// Refuses a host of the plan, of which nothing is believed any more, on all of its connections.
  /// Returns whether it was not gone before.
  bool refuse(Connection& connection, const std::string& wrong, runtime::DeferredWakes& wakes);
  /// Refuses a stranger, or a peer that differs: nothing it did counts.
  void reject(Connection& connection, const std::string& wrong, runtime::DeferredWakes& wakes);

 private:
  Parts parts_;
  const Gone gone_;
};

}  // namespace paths
