// SPDX-License-Identifier: Apache-2.0
// paths/plan/ways.hpp — how what any host sends to any other gets there.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/settings.hpp"

namespace paths {

struct Plan;

/// The networks of clusters, their exits, and the links between them: what declared paths are
/// expanded over, kept for what goes its way without a path (lanes). It grows with clusters and
/// links, never with pairs of hosts.
struct Ways {
  struct Cluster {
    std::uint32_t exit = 0;  ///< the host through which it talks to other clusters
    base::Settings network;  ///< an emulated link's settings, of each host; null: none
  };
  std::vector<Cluster> clusters;  ///< as the plan counts them
  /// From one cluster to another; null: declared, but nothing to emulate.
  std::map<std::pair<std::uint32_t, std::uint32_t>, base::Settings> links;
};

/// What lanes may take of a host.
struct LaneSettings {
  std::uint64_t inbox_bytes = std::uint64_t{256} << 20;  ///< unread, of all lanes
  std::uint64_t frame_bytes = std::uint64_t{64} << 10;   ///< a message's piece; 0: unlimited
  bool is_written = false;
  friend bool operator==(const LaneSettings&, const LaneSettings&) = default;
};

/// One step of a way.
struct Hop {
  std::uint32_t to = 0;
  std::string link = {};         ///< the name of the emulated link on the way, of the host before
  base::Settings settings = {};  ///< that link's; null when there is none
};

/// The wrapper that is one direction of a host's network, and of a link between clusters.
std::string network_link_name(const std::string& host);
std::string wan_link_name(const std::string& from_cluster, const std::string& to_cluster);

/// Why there is no way from one host of the plan to another; "" when there is one.
std::string missing_way(const Plan& plan, std::uint32_t from, std::uint32_t to);
/// The first step from one host to another, there being a way.
Hop next_hop(const Plan& plan, std::uint32_t from, std::uint32_t to);
/// All of them.
std::vector<Hop> way_between(const Plan& plan, std::uint32_t from, std::uint32_t to);

}  // namespace paths
