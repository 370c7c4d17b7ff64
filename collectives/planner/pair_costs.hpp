// SPDX-License-Identifier: Apache-2.0
// collectives/planner/pair_costs.hpp — latency, bandwidth and other costs of messages between each
// pair of hosts.
#pragma once
#include <vector>

#include "collectives/cost/network.hpp"

namespace planning {

using base::Nanos;
using collectives::Rank;
using pricing::Bytes;

/// Properties of the route from one host to another.
struct Pair {
  Nanos latency{0};
  double bits_per_second = 0;  ///< rate of one stream; 0 = unlimited
};

/// The network model of the planners: the latency L and the bandwidth B of the route from each host
/// to each other host. A message of m bytes occupies the sending port of its host for os(m) =
/// overhead + m / nic, where nic is the rate of the host's network interface. The message occupies
/// the route for g(m) = max(os(m), m / B). The paper measures os and g, but does not print their
/// values.
///
/// Units: whole nanoseconds. Each time is rounded once. Two times that are equal on one machine are
///        therefore equal on every machine.
/// Thread-safe: immutable after construction.
/// Paper: Gupta and Vadhiyar 2007, §4.
class PairCosts {
 public:
  /// Throws: std::invalid_argument that lists every mistake: wrong number of rows,
  ///         missing (zero) or negative bandwidths, negative times.
  PairCosts(std::shared_ptr<const collectives::Topology> topology,
            std::vector<std::vector<Pair>> pairs, std::vector<double> nics,
            Nanos overhead = Nanos(0));
  /// Derives the costs from a network. The frames of one message may be spread over several streams
  /// (striping). The rate of a pair is the rate of one stream, multiplied by the number of these
  /// streams. It does not exceed the rate of the slowest host or link on the route. A link has a
  /// slot for each message that its streams can carry at the same time. A link without streams has
  /// one slot if its rate is limited.
  static PairCosts of(const pricing::Network& network, Nanos overhead = Nanos(0));

  Rank hosts() const { return topology_->size(); }
  const collectives::Topology& topology() const { return *topology_; }
  const Pair& pair(Rank from, Rank to) const { return pairs_[from * hosts() + to]; }
  bool crosses(Rank from, Rank to) const {
    return topology_->cluster_of(from) != topology_->cluster_of(to);
  }

  Nanos takes(Rank from, Rank to, Bytes bytes) const;  ///< m / B: time without the latency
  Nanos sending(Rank from, Bytes bytes) const;         ///< os(m): use of the sending port

  /// Returns how many messages a link between clusters may carry at the same time; 0 = unlimited.
  /// `path` is the index of the link, a result of path().
  std::size_t slots(std::size_t path) const { return slots_[path]; }
  std::size_t path(Rank from, Rank to) const {
    return topology_->cluster_of(from) * topology_->clusters() + topology_->cluster_of(to);
  }

 private:
  PairCosts() = default;
  std::shared_ptr<const collectives::Topology> topology_;
  std::vector<Pair> pairs_;  // properties of each route, indexed by from * hosts + to
  std::vector<double> nics_;
  Nanos overhead_{0};
  std::vector<std::size_t> slots_;  // slots of each link, indexed by path(from, to)
};

}  // namespace planning
