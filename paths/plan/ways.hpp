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
    std::uint32_t exit = 0;       ///< the host through which it talks to other clusters
    base::Settings network = {};  ///< an emulated link's settings, of each host; null: none
    bool receives = false;        ///< its bandwidth also holds for what comes to a host by it
    base::Settings rate = {};     ///< of the exit's own network, a gateway's; null: as others'
    /// A switch leads to other clusters in place of the exit: no host is between.
    bool has_switch = false;

    /// What a host sends into its network, and what comes to it from there: links' settings.
    base::Settings outgoing(std::uint32_t host) const;
    base::Settings receiving(std::uint32_t host) const;
    /// As the config of the low level has it, but for `exit` and `to`.
    std::vector<base::Settings::Entry> text() const;
  };
  std::vector<Cluster> clusters;  ///< as the plan counts them
  /// From one cluster to another; null: declared, but nothing to emulate.
  std::map<std::pair<std::uint32_t, std::uint32_t>, base::Settings> links;
};

/// What lanes may take of a host.
struct LaneSettings {
  std::uint64_t inbox_bytes = std::uint64_t{256} << 20;  ///< unread, of all lanes
  std::uint64_t frame_bytes = std::uint64_t{64} << 10;   ///< a message's piece; 0: unlimited
  std::uint32_t striping = 1;  ///< streams of a pair of hosts, over links that have such
  bool is_written = false;
  friend bool operator==(const LaneSettings&, const LaneSettings&) = default;
};

/// An emulated link on a way.
struct HopLink {
  std::string name = {};         ///< of its wrapper
  base::Settings settings = {};  ///< null: there is none
  base::Settings back = {};      ///< of one between clusters: those of the other direction
  bool is_there() const { return !settings.is_null(); }
};

/// One step of a way, over up to three links.
struct Hop {
  std::uint32_t to = 0;
  HopLink outgoing = {};   ///< of the host before: its network, or at an exit the link
  HopLink across = {};     ///< of the switch of its cluster: the link to another one
  HopLink receiving = {};  ///< of the host `to`
};

/// The wrapper that is one direction of a host's network, and of a link between clusters.
std::string network_link_name(const std::string& host);
std::string receiving_link_name(const std::string& host);
std::string wan_link_name(const std::string& from_cluster, const std::string& to_cluster);

/// By which a host sends into its cluster's network, and receives from it.
HopLink outgoing_link(const Plan& plan, std::uint32_t host);
HopLink receiving_link(const Plan& plan, std::uint32_t host);

/// The step from one cluster towards a host of another one, there being a link.
struct Crossing {
  std::uint32_t to = 0;
  HopLink link;
};
Crossing crossing(const Plan& plan, std::uint32_t from_cluster, std::uint32_t to);

/// Where frames pass a switch it has a number like a host's, beyond those of all hosts.
std::uint32_t switch_number(const Plan& plan, std::uint32_t cluster);
/// Of a host, or of a switch by its number, for messages.
std::string place_name(const Plan& plan, std::uint32_t place);

/// Why there is no way from one host of the plan to another; "" when there is one.
std::string missing_way(const Plan& plan, std::uint32_t from, std::uint32_t to);
/// The first step from one host to another, there being a way.
Hop next_hop(const Plan& plan, std::uint32_t from, std::uint32_t to);
/// All of them.
std::vector<Hop> way_between(const Plan& plan, std::uint32_t from, std::uint32_t to);

}  // namespace paths
