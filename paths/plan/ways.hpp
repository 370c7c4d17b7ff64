// SPDX-License-Identifier: Apache-2.0
// paths/plan/ways.hpp — routes ("ways") of messages from any host to any other host.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/settings.hpp"

namespace paths {

struct Plan;

/// Networks of clusters, their exits, and the links between clusters. Together they give the route
/// ("way") from any host to any other. The reader of a high-level config builds declared paths over
/// these routes, and lanes send messages over these routes without a path. The memory size depends
/// on the number of clusters and links, not on the number of pairs of hosts.
struct Ways {
  struct Cluster {
    std::uint32_t exit = 0;  ///< host through which the cluster reaches other clusters
    /// Settings of each host's link into the cluster's network; null if the hosts have no such
    /// links.
    base::Settings network = {};
    bool receives = false;  ///< whether the bandwidth also limits the messages that a host receives
    /// Bandwidth of the exit's network link; null if the exit has the same bandwidth as other
    /// hosts.
    base::Settings rate = {};
    /// Whether a switch replaces the exit. Messages to other clusters then pass no other host of
    /// the cluster.
    bool has_switch = false;

    /// Returns the link settings for messages that a host sends into its network.
    base::Settings outgoing(std::uint32_t host) const;
    /// Returns the link settings for messages that a host receives from its network.
    base::Settings receiving(std::uint32_t host) const;
    /// Returns the entry of this cluster in the low-level config's key `ways`, without the settings
    /// `exit` and `to`.
    std::vector<base::Settings::Entry> text() const;
  };
  std::vector<Cluster> clusters;  ///< network of each cluster, as in Plan::clusters
  /// Settings of links, keyed by clusters (from, to); null for a declared link without emulation.
  std::map<std::pair<std::uint32_t, std::uint32_t>, base::Settings> links;
};

/// Limits of the lanes of a host.
struct LaneSettings {
  /// Maximum number of bytes that the host has received over its lanes and not read yet.
  std::uint64_t inbox_bytes = std::uint64_t{256} << 20;
  /// Maximum number of message bytes in a frame; 0 = no limit.
  std::uint64_t frame_bytes = std::uint64_t{64} << 10;
  std::uint32_t striping = 1;  ///< number of streams per pair of hosts, on links with streams
  bool is_written = false;
  friend bool operator==(const LaneSettings&, const LaneSettings&) = default;
};

/// Emulated link on a route.
struct HopLink {
  std::string name = {};         ///< name of the wrapper that emulates the link
  base::Settings settings = {};  ///< settings of the link; null = no emulated link
  /// Settings of the reverse direction; null unless the link is between clusters.
  base::Settings back = {};
  bool is_there() const { return !settings.is_null(); }
};

/// One step of a route: from one host (the sender) to the next host, over up to three links.
struct Hop {
  std::uint32_t to = 0;
  /// Link over which the sender sends. It is the link into the network of the sender, or the link
  /// to another cluster if the sender is an exit and sends to that cluster.
  HopLink outgoing = {};
  /// Link from the switch of the sender's cluster to another cluster, if the cluster has a switch
  /// and the step leaves the cluster.
  HopLink across = {};
  HopLink receiving = {};  ///< link that limits the rate at which the host `to` receives
};

/// Return the name of the wrapper that emulates a network link of a host (one direction), or a link
/// between two clusters.
std::string network_link_name(const std::string& host);
std::string receiving_link_name(const std::string& host);
std::string wan_link_name(const std::string& from_cluster, const std::string& to_cluster);

/// Return the link over which a host sends into its cluster's network, or receives from this
/// network.
HopLink outgoing_link(const Plan& plan, std::uint32_t host);
HopLink receiving_link(const Plan& plan, std::uint32_t host);

/// Link from one cluster to another, and the host that receives the messages of this link.
struct Crossing {
  std::uint32_t to = 0;
  HopLink link;
};
/// Returns the link from one cluster to another. Requires: the plan has this link.
Crossing crossing(const Plan& plan, std::uint32_t from_cluster, std::uint32_t to);

/// Returns the number of a cluster's switch. Such numbers follow the indexes of all hosts.
std::uint32_t switch_number(const Plan& plan, std::uint32_t cluster);
/// Returns the name of a host or switch for error messages. `place` is the index of a host or the
/// number of a switch.
std::string place_name(const Plan& plan, std::uint32_t place);

/// Returns why there is no route from one host of the plan to another; "" if there is a route.
std::string missing_way(const Plan& plan, std::uint32_t from, std::uint32_t to);
/// Returns the first step of the route from one host to another.
/// Requires: there is a route.
Hop next_hop(const Plan& plan, std::uint32_t from, std::uint32_t to);
std::vector<Hop> way_between(const Plan& plan, std::uint32_t from, std::uint32_t to);

}  // namespace paths
