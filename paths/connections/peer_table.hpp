// SPDX-License-Identifier: Apache-2.0
// paths/connections/peer_table.hpp — what a host knows of the hosts that it is joined to.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "paths/wire/frame.hpp"
#include "paths/wire/peers.hpp"
#include "paths/wire/silence.hpp"

namespace paths {

/// The peers of one host: which of their connections have arrived, which peers have left, which
/// were refused.
///
/// Sharing: guarded by the mutex of the connection table.
class PeerTable {
 public:
  struct Peer {
    bool has_departed = false;
    std::string why;                   ///< it departed
    std::string refused;               ///< why a host that used its name was refused
    std::map<StageId, bool> comes_on;  ///< connections that it is to make; true = it has
    std::uint32_t greeted_on = 0;      ///< number of those with a hello
    std::uint32_t parted_from = 0;     ///< number of those with a goodbye
    Silence silence;
    std::optional<std::uint64_t> incarnation = {};  ///< the call that ours is wired with
    bool is_another(const DeploymentId& call) const {
      return incarnation && *incarnation != call.incarnation;
    }
  };

  /// Counts the connections that the plan has peers make. A goodbye on one may overtake the hello
  /// of another. `peers` outlives this object.
  PeerTable(const Peers& peers, std::uint32_t host);

  /// Returns the entry of a peer, which may be new.
  Peer& operator[](std::uint32_t host) { return met_[host]; }
  /// Returns null if nothing is known of the host.
  const Peer* find(std::uint32_t host) const;
  /// Returns the hosts from which a connection is still to come.
  std::vector<std::uint32_t> not_come() const;
  /// Notes that nothing more comes from a peer. Returns whether that is news.
  bool depart(std::uint32_t host, const std::string& why);
  /// Returns where a peer should be, and why one that was there was refused.
  std::string place_of(std::uint32_t host) const;

  void note_given_up(std::string what) { given_up_.push_back(std::move(what)); }
  /// Returns in one sentence which peers had to be given up. Empty if none.
  std::string given_up() const;

 private:
  const Peers& peers_;
  const std::uint32_t host_;
  std::unordered_map<std::uint32_t, Peer> met_;  // not of all hosts: there may be very many
  std::vector<std::string> given_up_;
};

/// Returns as what stages are known that share a connection. There is one connection per way out of
/// a host, as a path has its own in Bongo et al. 2004, §III-A, unless the plan has hosts share one.
inline StageId connection_key(const Peers& peers, StageId stage) {
  return peers.shares_connections ? no_stage : stage;
}

}  // namespace paths
