// SPDX-License-Identifier: Apache-2.0
// paths/wire/peers.hpp — hosts, addresses and connections of a plan, known before hosts connect
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/digest.hpp"
#include "base/units.hpp"
#include "paths/operation.hpp"
#include "paths/wire/signs_of_life.hpp"

namespace paths {

class Keyring;

/// Part of a plan on which hosts must agree before they exchange frames: names, addresses and
/// connections. All members except `keyring` are equal on all hosts. Hosts, graphs and paths are
/// identified by their index in the plan.
struct Peers {
  /// A connection that another host makes to this peer. The operations on the connection enter the
  /// stage `stage`.
  struct Arrival {
    std::uint32_t from_host = 0;
    StageId stage = no_stage;
  };
  struct Peer {
    std::string name;
    std::string address;  ///< such as "tcp://127.0.0.1:7700" or "ipc:///path"
    std::uint32_t cluster = 0;
    std::vector<Arrival> arrivals = {};
    bool is_switch = false;  ///< whether this entry is an emulated switch for lanes, not a host
    /// Hosts to which this peer connects only in order to notice their loss. In the entry of each
    /// of these hosts, `arrivals` contains the connection, with no_stage. Empty if hosts are not
    /// processes, or if the run does not need all hosts.
    std::vector<std::uint32_t> meets = {};
    /// Name of the host whose key this peer uses. A host uses its own key. A switch uses the key of
    /// the exit of its cluster.
    std::string key_owner = {};
    /// Address for connections over protected links; "" if the peer has none.
    std::string protected_address = {};
  };
  /// All hosts, and after the last host the emulated switches.
  std::vector<Peer> hosts;
  std::size_t clusters = 0;
  /// Pairs of clusters, the lower index first, whose hosts connect to each other without
  /// encryption, because the network between them is protected. Empty if nothing is encrypted.
  std::set<std::pair<std::uint32_t, std::uint32_t>> protected_links;
  std::vector<std::string> graphs;
  std::vector<std::uint32_t> graph_of_path;  ///< graph of each path: index into `graphs`
  bool shared_memory = true;  ///< whether hosts on one machine use shared memory for frames
  /// Whether a host that cannot use shared memory fails instead of using sockets.
  bool requires_shared_memory = false;
  /// Whether each host is a process of its own. Processes of a machine may then map elements.
  bool are_processes = false;
  /// Whether each host connects to other machines only from the address that it has here. Hosts
  /// then refuse TCP connections from other addresses (source_filter.hpp).
  bool has_fixed_sources = false;
  /// Whether all paths from one host to another share one connection.
  bool shares_connections = false;
  base::Nanos deadline{0};
  LivenessTimes liveness = {};
  base::Digest digest;  ///< digest of the plan
  /// Identity of the run; hosts of different runs refuse each other. Without a run key, it is the
  /// digest of the config's plan.
  base::Digest run;
  /// Keys for connections over TCP; nullptr = these connections are not encrypted.
  std::shared_ptr<const Keyring> keyring = nullptr;

  const std::string& graph_of(std::uint32_t path) const { return graphs[graph_of_path[path]]; }
  bool are_in_different_clusters(std::uint32_t a, std::uint32_t b) const {
    return hosts[a].cluster != hosts[b].cluster;
  }
  /// Returns whether connections between two peers are protected by the network and not encrypted.
  bool is_protected(std::uint32_t a, std::uint32_t b) const {
    return protected_links.contains(std::minmax(hosts[a].cluster, hosts[b].cluster));
  }
  std::optional<std::uint32_t> named(std::string_view name) const {
    const auto found = std::find_if(hosts.begin(), hosts.end(),
                                    [&](const Peer& host) { return host.name == name; });
    if (found == hosts.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - hosts.begin());
  }
};

}  // namespace paths
