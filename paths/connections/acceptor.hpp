// SPDX-License-Identifier: Apache-2.0
// paths/connections/acceptor.hpp — assignment of incoming connections to deployments
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "paths/connections/connections.hpp"
#include "paths/connections/deployment_table.hpp"
#include "paths/connections/hello_places.hpp"
#include "paths/wire/frame.hpp"
#include "paths/wire/multiplexer.hpp"
#include "paths/wire/refusal.hpp"
#include "paths/wire/rejection_log.hpp"
#include "paths/wire/transport.hpp"

namespace paths {

/// Assigns each incoming connection to a deployment. The hello (the first frame of a connection)
/// names the deployment. Peers may connect before this host calls deploy(), or after the deployment
/// has ended.
///
/// The acceptor first compares the protocol version and the run in a hello with those of this host.
/// If the deployment is open, the acceptor passes the hello to it. If this host has not called
/// deploy() yet, the acceptor keeps the hello until the call. If the deployment has ended, the
/// acceptor replies how it ended. A connection whose first frame belongs to a lane is passed to the
/// receiver of lanes.
///
/// Thread-safe: all functions.
class Acceptor final : public Receiver {
 public:
  /// `number` is the number of the host in the run. `run` is the secret id of the run. `config` is
  /// the digest of the run's plan. Without a launcher, `run` equals `config`. `incarnation` differs
  /// each time the host is started.
  Acceptor(std::string host, std::uint32_t number, base::Digest run, base::Digest config,
           std::uint64_t incarnation, std::unique_ptr<Transport> transport);

  void start() { multiplexer_.start(); }
  void stop() { multiplexer_.stop(); }
  std::unique_ptr<Multiplexer::SubTransport> share(HostNumbers numbers = nullptr) {
    return multiplexer_.share(std::move(numbers));
  }
  RejectionLog& rejections() { return rejections_; }

  /// Begins a call of deploy() and returns the id of the call. Refuses waiting hellos for earlier
  /// calls, because this host has skipped those calls.
  /// Throws: UsageError if this host already runs a deployment with this label.
  std::shared_ptr<const DeploymentId> begin(const std::string& label, const base::Digest& plan);
  /// Passes hellos for the deployment to `connections`: waiting hellos immediately, and later
  /// hellos when they arrive. `share` is the deployment's part of the transport.
  /// Requires: `connections` and `share` exist until end() has returned.
  void open(const DeploymentId& call, Connections& connections, Multiplexer::SubTransport& share);
  /// Notes that the deployment has ended. `how` describes the end. `arrivals` are the connections
  /// that peers made for the deployment. From now on the acceptor replies to frames on the
  /// connections in `arrivals`. A second call for the same deployment has no effect.
  void end(const DeploymentId& call, const std::string& how,
           const std::vector<ConnectionId>& arrivals = {});

  /// Notes that a peer has called deploy() with the label in `call`, and that the peer's call has
  /// the number `number`. This host's next call with that label gets at least this number, so that
  /// it can match the peer's call.
  void hear(const DeploymentId& call, std::uint64_t number);

  /// Makes `share` the receiver of connections whose first frame belongs to a lane. `share` checks
  /// the content of the frames.
  /// Requires: `share` has been started.
  void open_lanes(Multiplexer::SubTransport& share);

  void deliver(ConnectionId connection, Frame&& frame) override;
  /// Returns 0 (no large bodies), except on connections of deployments that have ended. The sender
  /// on any other connection may be a stranger.
  std::uint64_t body_bytes_max(ConnectionId connection, const Frame& head) override;
  void deliver_short(ConnectionId connection, ShortFrame&& frame) override;
  void connection_lost(ConnectionId connection, const std::string& reason) override;
  void turned_away(const std::string& source, const std::string& reason) override;

  /// Returns the number of known labels: those of this host's calls, and those of waiting hellos.
  std::size_t labels() const;

 private:
  /// A hello for a call of deploy() that this host has not made yet. A hello is the first frame
  /// that a peer sends on a connection.
  struct Waiting {
    ConnectionId connection = 0;
    Frame hello;
    std::string source;
    /// Reason why the peer's call of deploy() failed; "" if the call has not failed. If there is a
    /// reason, the peer has closed the connection, or the connection is lost.
    std::string failure = {};
    std::uint64_t number() const { return hello.deployment->number; }
  };
  struct Label {
    DeploymentTable deployments;
    Connections* connections = nullptr;  // nullptr unless a deployment is open
    Multiplexer::SubTransport* share = nullptr;
    std::vector<Waiting> waiting;

    /// Returns whether this host has never called deploy() with this label, and no hello with this
    /// label waits.
    bool is_unused() const {
      return waiting.empty() && deployments.number() == 0 && !deployments.is_under_way();
    }
  };
  /// Reaction to a frame. deliver() carries it out after it has released the mutex.
  struct Verdict {
    /// Part of the transport to which the frame is passed; nullptr if the frame is not passed on.
    Multiplexer::SubTransport* share = nullptr;
    std::vector<Frame> answers = {};
    std::string complaint = {};
    bool is_last = false;  ///< whether to drop the connection after the replies
    /// Waiting hello that must be refused, because a new hello has taken its place.
    std::optional<HelloPlaces::Taken> evicted = {};
  };
  Verdict judge(ConnectionId connection, Frame& frame);
  Verdict judge_deployment(ConnectionId connection, Frame& hello);
  Verdict judge_call(ConnectionId connection, Frame& hello, Label& label);
  Verdict judge_after_end(ConnectionId connection, const Frame& frame);
  /// Returns the verdict that refuses a host of the run. That host receives the reason `why`.
  Verdict refused(std::string why, std::shared_ptr<const DeploymentId> about = nullptr) const;
  /// Returns the verdict that refuses a peer that may be a stranger. The reason is only logged.
  static Verdict rejected(Rejection rejection);
  Rejection wrong_run(const Frame& hello) const;
  bool fails_waiting(ConnectionId connection, const std::string& failure);
  void forget_if_unused(const std::string& label);

  const std::string host_;
  const std::uint32_t number_;
  const base::Digest run_;
  const base::Digest config_;
  const std::uint64_t incarnation_;
  RejectionLog rejections_;
  mutable runtime::Mutex mutex_;
  std::map<std::string, Label, std::less<>> labels_;
  HelloPlaces places_;  // places of waiting hellos; a hello in failures_ has no place
  // Label and connection of each kept hello whose connection is lost or closed. The hello is kept
  // so that a later call of deploy() can report Waiting::failure as the reason why the peer is
  // missing.
  std::deque<std::pair<std::string, ConnectionId>> failures_;
  // Connections that peers made for deployments that have ended. judge_after_end() handles later
  // frames on these connections.
  std::unordered_set<ConnectionId> after_end_;
  Multiplexer::SubTransport* lanes_ = nullptr;
  Multiplexer multiplexer_;
};

}  // namespace paths
