// SPDX-License-Identifier: Apache-2.0
// paths/wire/peers.hpp — plan data that hosts share before they connect
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.hpp"
#include "base/units.hpp"
#include "paths/operation.hpp"

namespace paths {

/// Hosts must agree on names, addresses and connections before they exchange frames. Peers is that
/// part of a plan: a value, the same on each host. Hosts, graphs and paths are known by their index
/// in the plan.
struct Peers {
  /// A connection that another host makes to a host; its frames enter at `stage`.
  struct Arrival {
    std::uint32_t from_host = 0;
    StageId stage = no_stage;
  };
  struct Peer {
    std::string name;
    std::string address;  ///< "tcp://127.0.0.1:7700" or "ipc:///path"
    std::uint32_t cluster = 0;
    std::vector<Arrival> arrivals = {};
    bool is_switch = false;  ///< whether it is an emulated switch that lanes pass, not a host
    /// Hosts to which it connects only to know whether they are there; each has an arrival at
    /// no_stage. Empty unless hosts are processes whose run needs all of them.
    std::vector<std::uint32_t> meets = {};
  };
  std::vector<Peer> hosts;  ///< hosts, then emulated switches if links of switches are emulated
  std::size_t clusters = 0;
  std::vector<std::string> graphs;
  std::vector<std::uint32_t> graph_of_path;  ///< index into `graphs`
  bool shared_memory = true;            ///< whether shared memory carries frames on one machine
  bool requires_shared_memory = false;  ///< whether a host without shared memory is an error
  bool are_processes = false;       ///< whether each host is a process; then elements may be mapped
  bool shares_connections = false;  ///< whether two hosts share one connection for all ways out
  base::Nanos deadline{0};
  base::Digest digest;  ///< digest of the plan
  /// Identity of the run; hosts of different runs refuse each other. Without a launcher it is the
  /// digest of the config's plan.
  base::Digest run;

  const std::string& graph_of(std::uint32_t path) const { return graphs[graph_of_path[path]]; }
  bool are_in_different_clusters(std::uint32_t a, std::uint32_t b) const {
    return hosts[a].cluster != hosts[b].cluster;
  }
  std::optional<std::uint32_t> named(std::string_view name) const {
    const auto found = std::find_if(hosts.begin(), hosts.end(),
                                    [&](const Peer& host) { return host.name == name; });
    if (found == hosts.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - hosts.begin());
  }
};

}  // namespace paths
