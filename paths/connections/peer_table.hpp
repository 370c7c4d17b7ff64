// SPDX-License-Identifier: Apache-2.0
// paths/connections/peer_table.hpp — state of the peers of a host: arrived, departed, refused
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "paths/wire/frame.hpp"
#include "paths/wire/peers.hpp"
#include "paths/wire/signs_of_life.hpp"

namespace paths {

/// The peers of one host. The table records which of their connections have arrived, and which
/// peers have departed or were refused.
///
/// Thread-safe: guarded by the mutex of the connection table.
class PeerTable {
 public:
  struct Peer {
    bool has_departed = false;
    std::string why;      ///< reason of the departure; "" before the departure
    std::string refused;  ///< reason why a host with this peer's name was refused; "" = none was
    std::map<StageId, bool> comes_on;  ///< expected connections by key; true = hello has arrived
    std::uint32_t greeted_on = 0;  ///< number of expected connections on which a hello has arrived
    /// Number of expected connections on which a goodbye has arrived.
    std::uint32_t parted_from = 0;
    SignsOfLife signs;
    std::optional<std::uint64_t> incarnation = {};  ///< nullopt until the peer is accepted
    /// Whether another incarnation has greeted since the last frame of the accepted one.
    bool has_restarted = false;
    bool is_another(const DeploymentId& call) const {
      return incarnation && *incarnation != call.incarnation;
    }
  };

  /// Reads from `peers` which connections each peer must make.
  /// Why: the number of connections must be known in advance, because a peer's goodbye on one
  ///      connection may overtake its hello on another connection.
  /// Requires: `peers` outlives this object.
  PeerTable(const Peers& peers, std::uint32_t host);

  /// Returns the entry of a peer. Creates the entry if needed.
  Peer& operator[](std::uint32_t host) { return met_[host]; }
  /// Returns the entry of a peer; nullptr if there is none.
  const Peer* find(std::uint32_t host) const;
  /// Returns the hosts that have not made all expected connections, except those that have
  /// departed.
  std::set<std::uint32_t> not_come() const;
  /// Notes that nothing more will arrive from a peer. Returns false if the peer had departed
  /// before.
  bool depart(std::uint32_t host, const std::string& why);
  /// Returns a peer's address as text for messages. If this host has refused a host with the peer's
  /// name, the text also contains the reason of the refusal.
  std::string place_of(std::uint32_t host) const;

  void note_given_up(std::string what) { given_up_.push_back(std::move(what)); }
  /// Returns a sentence that names the peers for which this host stopped waiting; "" if there are
  /// none.
  std::string given_up() const;

 private:
  const Peers& peers_;
  const std::uint32_t host_;
  // Entries of the hosts that must connect to this host, and of the hosts for which operator[] was
  // called. Other hosts have no entry, because a plan may have many hosts.
  std::unordered_map<std::uint32_t, Peer> met_;
  std::vector<std::string> given_up_;
};

/// Returns the key of the connection for `stage`. By default, each stage that a host enters on
/// another host has a connection of its own. If the plan lets two hosts share one connection, all
/// stages have the same key.
///
/// Paper: Bongo et al. 2004, §III-A, has one connection for each path.
inline StageId connection_key(const Peers& peers, StageId stage) {
  return peers.shares_connections ? no_stage : stage;
}

}  // namespace paths
