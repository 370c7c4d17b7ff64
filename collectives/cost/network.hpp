// SPDX-License-Identifier: Apache-2.0
// collectives/cost/network.hpp — what participants of a collective have between them.
#pragma once
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/link_model/link.hpp"
#include "collectives/schedule/topology.hpp"

namespace pricing {

using Bytes = std::uint64_t;
inline constexpr Bytes unlimited = std::numeric_limits<Bytes>::max();

using tuning::Link;  ///< one direction between two clusters

/// Every participant is a host with an outgoing and a receiving side to its cluster's network.
/// Clusters are the outermost groups of the topology. Other clusters are reached through a switch
/// (own side, link, the receiver's side, no host between), or through a host, the exit: what others
/// send passes their sides, then the exit's; what the exit sends itself has only the link.
/// Sharing: a value; anybody may read it.
struct Network {
  std::shared_ptr<const collectives::Topology> topology;
  std::vector<tuning::LinkModel> outgoing;   ///< by participant; then exits that are none
  std::vector<tuning::LinkModel> receiving;  ///< likewise
  std::vector<Link> links;                   ///< by clusters: from * clusters + to
  /// By cluster, where in `outgoing` its exit is; none: a switch. Empty: switches everywhere.
  std::vector<std::optional<std::uint32_t>> exits = {};
  std::size_t striping = 1;          ///< streams of an ordered pair of hosts
  Bytes frame = 64 * 1024;           ///< the unit in which links serve
  base::Nanos message_cost{0};       ///< of a host, for each message it sends or receives
  double fold_bytes_per_second = 0;  ///< of a host, read and written in folds; 0: no time

  std::size_t clusters() const { return topology->clusters(); }
  bool crosses(collectives::Rank from, collectives::Rank to) const {
    return topology->cluster_of(from) != topology->cluster_of(to);
  }
  std::size_t link_index(collectives::Rank from, collectives::Rank to) const {
    return topology->cluster_of(from) * clusters() + topology->cluster_of(to);
  }
  /// Of a participant's cluster.
  std::optional<std::uint32_t> exit_of(collectives::Rank rank) const {
    return exits.empty() ? std::nullopt : exits[topology->cluster_of(rank)];
  }
  bool is_exit(collectives::Rank rank) const { return exit_of(rank) == rank; }

  enum class Part { outgoing, link, receiving };
  /// What is between two hosts, in order: `see(part, index)`.
  template <class See>
  void for_way(collectives::Rank from, collectives::Rank to, const See& see) const;
  /// Of all stages from one host to the other, as they are at the start.
  base::Nanos latency(collectives::Rank from, collectives::Rank to) const;
};

template <class See>
void Network::for_way(collectives::Rank from, collectives::Rank to, const See& see) const {
  const bool is_between = crosses(from, to);
  if (!is_between || !is_exit(from)) see(Part::outgoing, std::size_t{from});
  if (is_between) {
    if (const auto exit = exit_of(from); exit && *exit != from) see(Part::receiving, *exit);
    see(Part::link, link_index(from, to));
    if (const auto exit = exit_of(to); exit && *exit != to) see(Part::outgoing, *exit);
  }
  if (!is_between || !is_exit(to)) see(Part::receiving, std::size_t{to});
}

/// What it carries in a second at the start; 0: unlimited.
double rate_of(const tuning::LinkModel& model);
double rate_of(const Link& link);
/// What so many bytes take at least at that rate, rounded down; time_max at most, as for links.
base::Nanos least_time(double bytes, double bits_per_second);
inline base::Nanos least_time(Bytes bytes, double bits_per_second) {
  return least_time(static_cast<double>(bytes), bits_per_second);
}

struct Side {
  base::Nanos latency{0};
  double bits_per_second = 0;  ///< 0: unlimited
};

/// All hosts alike, and all links: a message in a cluster takes `local.latency`, and one to another
/// cluster that of `wide`, which has the local one in it.
Network uniform_network(std::shared_ptr<const collectives::Topology> topology, Side local,
                        Side wide);

}  // namespace pricing
