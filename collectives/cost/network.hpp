// SPDX-License-Identifier: Apache-2.0
// collectives/cost/network.hpp — network model between the participants of a collective.
#pragma once
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/link_model/host_costs.hpp"
#include "base/link_model/link.hpp"
#include "collectives/schedule/topology.hpp"

namespace pricing {

using Bytes = std::uint64_t;
inline constexpr Bytes unlimited = std::numeric_limits<Bytes>::max();

using tuning::Link;  ///< link between two clusters, in one direction

/// A network of hosts in clusters. Every participant is a host. The outgoing and the receiving side
/// of a host's network interface connect the host to the network of its cluster. Clusters are the
/// outermost groups of the topology. A message to another cluster leaves the sender's cluster
/// - through a switch: a message passes the sender's side, the link and the receiver's side;
/// - through a host, the exit: messages of other hosts pass their own sides and the exit's side,
///   messages of the exit itself pass only the link.
/// Thread-safe: a value; concurrent reads are safe.
struct Network {
  std::shared_ptr<const collectives::Topology> topology;
  /// Outgoing sides of all participants, followed by the outgoing sides of exits that are not
  /// participants.
  std::vector<tuning::LinkModel> outgoing;
  /// Receiving side of each host, in the order of `outgoing`.
  std::vector<tuning::LinkModel> receiving;
  /// Links between clusters, indexed by from * clusters + to.
  std::vector<Link> links;
  /// For each cluster, the index of its exit in `outgoing`; nullopt for a cluster with a switch. If
  /// the vector is empty, each cluster has a switch.
  std::vector<std::optional<std::uint32_t>> exits = {};
  std::size_t striping = 1;  ///< number of streams from a host to each of the other hosts
  Bytes frame = 64 * 1024;   ///< maximum number of bytes that a link sends in one piece
  /// Processor time of a host for each message that it sends or receives.
  base::Nanos message_cost{0};
  /// Costs of the hosts for each frame, indexed like `links`. Frames inside a cluster have the
  /// index with from == to. If the vector is empty, `message_cost` applies instead.
  std::vector<std::shared_ptr<const tuning::FrameCosts>> frame_costs = {};
  /// Rates of reductions and copies on a host of speed 1: bytes read plus bytes written, per
  /// second. 0 = such work takes no time.
  double fold_bytes_per_second = 0, copy_bytes_per_second = 0;
  /// Speed of each host at reductions and copies, in the order of `outgoing`. Empty = all hosts
  /// have speed 1.
  std::vector<double> speeds = {};
  /// Additional time that a host needs to receive a frame that arrives while the host has no work.
  base::Nanos wake_up{0};
  /// Number of cores of each machine. The hosts on a machine share its cores. 0 = each host has a
  /// core of its own.
  std::size_t cores = 0;
  /// Index of the machine on which each host runs, in the order of `outgoing`. Empty if `cores` is
  /// 0.
  std::vector<std::uint32_t> machines = {};

  std::size_t clusters() const { return topology->clusters(); }
  bool crosses(collectives::Rank from, collectives::Rank to) const {
    return topology->cluster_of(from) != topology->cluster_of(to);
  }
  std::size_t link_index(collectives::Rank from, collectives::Rank to) const {
    return topology->cluster_of(from) * clusters() + topology->cluster_of(to);
  }
  /// Returns the exit of a participant's cluster; nullopt if the cluster has a switch.
  std::optional<std::uint32_t> exit_of(collectives::Rank rank) const {
    return exits.empty() ? std::nullopt : exits[topology->cluster_of(rank)];
  }
  double speed(collectives::Rank rank) const { return speeds.empty() ? 1 : speeds[rank]; }
  bool is_exit(collectives::Rank rank) const { return exit_of(rank) == rank; }

  enum class Part { outgoing, link, receiving };
  /// Calls `see(part, index)` for each part of the network that a message between two hosts passes,
  /// in order. A part is a side of a host or a link.
  template <class See>
  void for_way(collectives::Rank from, collectives::Rank to, const See& see) const;
  /// Returns the sum of the latencies of all parts between two hosts. If a latency changes with
  /// time, its value at time 0 is used.
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

/// Returns the rate in bits per second that the link has at time 0; 0 = unlimited.
double rate_of(const tuning::LinkModel& model);
double rate_of(const Link& link);
/// Returns the time in which `bytes` bytes pass at the given rate, rounded down and limited to
/// time_max.
base::Nanos least_time(double bytes, double bits_per_second);
inline base::Nanos least_time(Bytes bytes, double bits_per_second) {
  return least_time(static_cast<double>(bytes), bits_per_second);
}

struct Side {
  base::Nanos latency{0};
  double bits_per_second = 0;  ///< rate of the side; 0 = unlimited
};

/// Returns a network of equal hosts and equal links. Messages within a cluster have the latency of
/// `local`. Messages between clusters have the latency of `wide` in total.
Network uniform_network(std::shared_ptr<const collectives::Topology> topology, Side local,
                        Side wide);

}  // namespace pricing
