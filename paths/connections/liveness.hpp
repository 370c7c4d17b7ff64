// SPDX-License-Identifier: Apache-2.0
// paths/connections/liveness.hpp — detection of lost peers and connections
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "paths/connections/connection_table.hpp"
#include "paths/connections/frame_sender.hpp"
#include "paths/connections/meeting.hpp"
#include "paths/connections/peer_table.hpp"
#include "paths/connections/send_queue.hpp"
#include "paths/wire/refusal.hpp"
#include "paths/wire/rejection_log.hpp"
#include "paths/wire/signs_of_life.hpp"

namespace paths {

/// Decides which connections and peers are lost. A peer is lost if its connection is closed, or if
/// the peer is silent for too long, breaks the protocol or refuses this host.
///
/// Callers that wait for a reply on a lost connection get the reason as an error.
///
/// Thread-safe: all functions without a parameter of type DeferredWakes. The functions with such a
///              parameter require the mutex of the table.
class Liveness {
 public:
  /// Function that is called once for each host from which nothing more can arrive. `reason` tells
  /// why. `has_closed` is true if the host has sent its goodbye on all connections that the plan
  /// requires it to make. `has_closed` is false if a connection was lost, or if one of the two
  /// hosts refused the other. The function must not block.
  using Gone = std::function<void(std::uint32_t host, const std::string& reason, bool has_closed)>;
  enum class Which : std::uint8_t { not_met, all };

  /// The parts of a host's connections that Liveness uses. All outlive the Liveness object.
  struct Parts {
    ConnectionTable& table;
    PeerTable& peers;
    FrameSender& sender;
    SendQueue& queue;
    Meeting& meeting;
    RejectionLog& rejections;
  };
  Liveness(const Parts& parts, Gone gone) : parts_(parts), gone_(std::move(gone)) {}

  /// Sends a heartbeat to each peer to which this host has sent no frame for the duration `beat` of
  /// the config. Declares a peer lost if it has been silent for the duration `silent` of the
  /// config. Does neither for a peer that has sent its goodbye. The owner must call this function
  /// once every look_pause(), on the steady clock.
  void look_after_peers();
  /// Notes that this host ends. From then on a peer may be silent for at most Peers::deadline, or
  /// for at most `parting_time` if the run has failed.
  void begin_end() { is_ending_ = true; }
  base::Nanos look_pause() const { return times().look_pause(); }
  /// Longest silence of a peer while this host ends, if the run has failed.
  static constexpr base::Nanos parting_time = std::chrono::seconds(1);
  /// Handles the transport's report that a connection is lost.
  void take_loss(ConnectionId connection, const std::string& reason);
  void give_up(std::uint32_t peer, const std::string& why);
  /// Refuses the peer on this connection and declares the peer gone. `wrong` describes what the
  /// peer sent.
  void refuse(ConnectionId connection, const std::string& wrong);
  /// Refuses `host`, because its reply to a request for `stage` was wrong. Returns the error for
  /// the caller of that request.
  TravelError refuse_answer(std::uint32_t host, StageId stage, std::uint32_t path,
                            const std::string& wrong);
  /// Sends the reason `why` to each peer and closes all connections. This function is called if
  /// deploy() fails or if the deployment is abandoned.
  void abandon(const std::string& why);
  /// Calls the owner's function of type Gone for the peer, from which nothing more will arrive.
  /// Does nothing if deploy() has failed.
  void notify_gone(std::uint32_t peer, const std::string& why, bool has_closed);

  void lose(Connection& connection, const std::string& reason, runtime::DeferredWakes& wakes);
  /// Marks connections of a peer as lost. `which` selects all of them, or only those that this host
  /// made and on which no welcome has arrived (`not_met`). Returns false if the peer had departed
  /// before.
  bool lose_peer(std::uint32_t peer, Which which, const std::string& why,
                 runtime::DeferredWakes& wakes);
  /// Marks all connections of a peer as lost, because another incarnation of the peer has
  /// connected. Returns false if the peer had departed before.
  bool lose_restarted(std::uint32_t peer, runtime::DeferredWakes& wakes);
  /// Notes that another incarnation of a connected peer was refused. If the peer gives no further
  /// sign of life, the text about its loss calls it restarted.
  void note_restart(std::uint32_t peer);
  /// Refuses a known host on all of its connections. Returns false if the host had departed before.
  bool refuse(Connection& connection, const std::string& wrong, runtime::DeferredWakes& wakes);
  /// Refuses an unknown host, or a host with a different plan or run. The host receives only the
  /// RefusalWord. The reason is logged. The frames of the refused host have no effect.
  void reject(Connection& connection, const Rejection& rejection, runtime::DeferredWakes& wakes);

 private:
  /// A peer that has been silent for too long, and its open connections.
  struct SilentPeer {
    std::uint32_t host = 0;
    base::Nanos silence{0};
    std::vector<ConnectionId> connections;
  };
  LivenessTimes times() const;
  void note_frames(Connection& connection);
  std::optional<base::Nanos> age_of(std::uint32_t peer);
  std::vector<SilentPeer> look(const LivenessTimes& times);
  void judge(const SilentPeer& silent, const LivenessTimes& times);

  Parts parts_;
  const Gone gone_;
  std::atomic<bool> is_ending_{false};
  OwnStops stops_;
};

}  // namespace paths
