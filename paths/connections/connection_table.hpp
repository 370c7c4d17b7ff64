// SPDX-License-Identifier: Apache-2.0
// paths/connections/connection_table.hpp — connections of one host and their shared state
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "paths/connections/connection.hpp"
#include "paths/travel_error.hpp"
#include "paths/wire/peers.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// The connections of one host, keyed by id and by destination. The table also contains the mutex
/// that guards these connections and the parts of class Connections.
///
/// Owns: the connections and the transport.
/// Thread-safe: guarded by mutex(), except the functions that only read constant data. These are
///              runtime(), peers(), host(), name(), call(), transport(), watches_peers(),
///              frame_of() and gone().
class ConnectionTable {
 public:
  ConnectionTable(runtime::Runtime& runtime, std::shared_ptr<const Peers> peers, std::uint32_t host,
                  std::shared_ptr<const DeploymentId> call, std::unique_ptr<Transport> transport);

  runtime::Runtime& runtime() const { return runtime_; }
  const Peers& peers() const { return *peers_; }
  std::uint32_t host() const { return host_; }
  const std::string& name() const { return peers_->hosts[host_].name; }
  const std::string& name_of(std::uint32_t host) const { return peers_->hosts[host].name; }
  const DeploymentId& call() const { return *call_; }
  Transport& transport() const { return *transport_; }
  runtime::Mutex& mutex() { return mutex_; }
  /// Returns whether hosts start and end at different times, and watch each other for signs of
  /// life. Returns false on the virtual clock, because all hosts are then in this process.
  bool watches_peers() const { return !runtime_.is_virtual(); }

  /// Returns the connection that this host made to `host` for operations that enter `stage` there;
  /// nullptr if there is none.
  Connection* leading_to(std::uint32_t host, StageId stage);
  /// Makes the connection to `host` for operations that enter `stage` there. Does not wait for
  /// `host`, and sends no frame.
  Connection& connect(std::uint32_t host, StageId stage);
  /// Returns the connection with that id; nullptr if there is none.
  Connection* find(ConnectionId id);
  Connection& find_or_add(ConnectionId id);
  /// Removes a connection. Replies that are sent on it later are dropped.
  void erase(ConnectionId id);
  const std::unordered_map<ConnectionId, std::unique_ptr<Connection>>& all() const {
    return connections_;
  }

  /// Returns a frame of this kind, with the run and the number of this host. Frames of a handshake
  /// (hello, welcome, refuse) also get the deployment.
  Frame frame_of(FrameKind kind) const;
  /// Returns a refuse frame with the reason `why`.
  Frame refusal(const std::string& why) const;
  /// Returns the value of Frame::time_left for the deadline `until` of an operation.
  base::Nanos time_left(base::Nanos until) const;
  /// Returns the error for a call on a lost connection.
  TravelError gone(const Connection& connection, std::uint32_t path) const;

 private:
  runtime::Runtime& runtime_;
  const std::shared_ptr<const Peers> peers_;
  const std::uint32_t host_;
  const std::shared_ptr<const DeploymentId> call_;
  const std::unique_ptr<Transport> transport_;
  runtime::Mutex mutex_;
  std::unordered_map<ConnectionId, std::unique_ptr<Connection>> connections_;
  std::unordered_map<std::uint64_t, Connection*> by_destination_;  // key: host and connection key
  // Connection on which the latest frame arrived; find() checks it first.
  Connection* recent_ = nullptr;
};

}  // namespace paths
