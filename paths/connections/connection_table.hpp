// SPDX-License-Identifier: Apache-2.0
// paths/connections/connection_table.hpp — the connections of one host, and what its parts share.
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

/// The connections of one host, by their number and by where they lead; and the mutex that guards
/// them and all parts of Connections.
///
/// Owns:    the connections and the transport.
/// Sharing: guarded by mutex(), except for what never changes: runtime(), peers(), here(), call(),
///          transport(), frame_of(), gone().
class ConnectionTable {
 public:
  ConnectionTable(runtime::Runtime& runtime, std::shared_ptr<const Peers> peers, std::uint32_t host,
                  std::shared_ptr<const DeploymentId> call, std::unique_ptr<Transport> transport);

  runtime::Runtime& runtime() const { return runtime_; }
  const Peers& peers() const { return *peers_; }
  std::uint32_t host() const { return host_; }
  /// Returns the name of this host.
  const std::string& name() const { return peers_->hosts[host_].name; }
  const std::string& name_of(std::uint32_t host) const { return peers_->hosts[host].name; }
  const DeploymentId& call() const { return *call_; }
  Transport& transport() const { return *transport_; }
  runtime::Mutex& mutex() { return mutex_; }

  /// Returns the connection that this host made to `host` for `stage`; null if there is none.
  Connection* leading_to(std::uint32_t host, StageId stage);
  /// Makes it. Does not wait for the peer. Nothing has been sent on it yet.
  Connection& connect(std::uint32_t host, StageId stage);
  /// Returns null if there is no such connection.
  Connection* find(ConnectionId id);
  Connection& find_or_add(ConnectionId id);
  /// Forgets a connection. Later replies on it are dropped.
  void erase(ConnectionId id);
  const std::unordered_map<ConnectionId, std::unique_ptr<Connection>>& all() const {
    return connections_;
  }

  /// Returns a frame that says whose it is.
  Frame frame_of(FrameKind kind) const;
  /// Returns a refusal that says why.
  Frame refusal(const std::string& why) const;
  /// Returns the error of calls on a connection that is lost.
  TravelError gone(const Connection& connection, std::uint32_t path) const;

 private:
  runtime::Runtime& runtime_;
  const std::shared_ptr<const Peers> peers_;
  const std::uint32_t host_;
  const std::shared_ptr<const DeploymentId> call_;
  const std::unique_ptr<Transport> transport_;
  runtime::Mutex mutex_;
  std::unordered_map<ConnectionId, std::unique_ptr<Connection>> connections_;
  std::unordered_map<std::uint64_t, Connection*> by_destination_;  // host and stage
  Connection* recent_ = nullptr;                                   // that something came in on last
};

}  // namespace paths
