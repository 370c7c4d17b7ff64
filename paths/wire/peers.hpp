// SPDX-License-Identifier: Apache-2.0
// paths/wire/peers.hpp — what the hosts of a run know of each other before they meet.
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

/// All of a plan that matters for what crosses between hosts; a value, the same for each of them.
/// Hosts, graphs and paths are known by their index in the plan.
struct Peers {
  /// A connection that is made to a host: what comes on it enters at `stage`.
  struct Arrival {
    std::uint32_t from_host = 0;
    StageId stage = no_stage;
  };
  struct Peer {
    std::string name;
    std::string address;  ///< "tcp://127.0.0.1:7700" or "ipc:///path"
    std::uint32_t cluster = 0;
    std::vector<Arrival> arrivals = {};
    bool is_switch = false;  ///< no host, but an emulated switch: lanes pass it
    /// Hosts that it connects to only to know whether they are there; at each it is an arrival at
    /// no_stage. Empty unless hosts are processes whose run needs all of them.
    std::vector<std::uint32_t> meets = {};
  };
  std::vector<Peer> hosts;  ///< and behind them, where links of switches are emulated, those
  std::size_t clusters = 0;
  std::vector<std::string> graphs;           ///< names
  std::vector<std::uint32_t> graph_of_path;  ///< index into `graphs`
  bool shared_memory = true;                 ///< carries frames between hosts of one machine
  bool requires_shared_memory = false;       ///< it is an error when a host can have none
  bool are_processes = false;                ///< each host is one: elements may be mapped
  bool shares_connections = false;           ///< one for each pair of hosts, not for each way out
  base::Nanos deadline{0};
  base::Digest digest;  ///< the plan's
  base::Digest run;     ///< hosts of different runs refuse each other; without a launcher, the
                        ///< digest of the config's plan

  /// The name of a path's graph.
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
