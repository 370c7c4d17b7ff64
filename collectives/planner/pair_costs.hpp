// SPDX-License-Identifier: Apache-2.0
// collectives/planner/pair_costs.hpp — what each ordered pair of hosts has between them, and what
// that costs.
#pragma once
#include <vector>

#include "collectives/cost/network.hpp"

namespace planning {

using base::Nanos;
using collectives::Rank;
using pricing::Bytes;

/// What one message has on its way from one host to another.
struct Pair {
  Nanos latency{0};
  double bits_per_second = 0;  ///< of one stream; 0: unlimited
};

/// The network as Gupta and Vadhiyar 2007, §4, see it: latency L and bandwidth B of each ordered
/// pair, and of each host what a message holds its sending port for, os(m) = overhead + m / nic.
/// The paper measures os and g and prints neither; g(m), for which a message holds its pair, is
/// max(os(m), m / B).
///
/// All times are whole nanoseconds, rounded once each, so that ties are ties on every machine.
/// Sharing: never changes; anybody may read it.
class PairCosts {
 public:
  /// Throws: std::invalid_argument naming all that is wrong: rows that are not as many as hosts,
  /// bandwidths that are missing (zero) or negative, negative times; no host.
  PairCosts(std::shared_ptr<const collectives::Topology> topology,
            std::vector<std::vector<Pair>> pairs, std::vector<double> nics,
            Nanos overhead = Nanos(0));
  /// A pair has a stream's rate, as often as the network stripes messages (which need frames for
  /// that), or that of the slowest on its way; a path between clusters as many slots as it lets
  /// streams send, or one where all share what it has.
  static PairCosts of(const pricing::Network& network, Nanos overhead = Nanos(0));

  Rank hosts() const { return topology_->size(); }
  const collectives::Topology& topology() const { return *topology_; }
  const std::shared_ptr<const collectives::Topology>& shared_topology() const { return topology_; }
  const Pair& pair(Rank from, Rank to) const { return pairs_[from * hosts() + to]; }
  bool crosses(Rank from, Rank to) const {
    return topology_->cluster_of(from) != topology_->cluster_of(to);
  }

  Nanos takes(Rank from, Rank to, Bytes bytes) const;  ///< m / B
  Nanos sending(Rank from, Bytes bytes) const;         ///< os(m)

  /// Messages that may be on the path from one cluster to another at once; 0: any number.
  std::size_t slots(std::size_t path) const { return slots_[path]; }
  std::size_t path(Rank from, Rank to) const {
    return topology_->cluster_of(from) * topology_->clusters() + topology_->cluster_of(to);
  }
  /// Of all paths; none: any number. Throws: std::invalid_argument if they are not so many.
  void set_slots(std::vector<std::size_t> slots);

 private:
  PairCosts() = default;
  std::shared_ptr<const collectives::Topology> topology_;
  std::vector<Pair> pairs_;  // from * hosts + to
  std::vector<double> nics_;
  Nanos overhead_{0};
  std::vector<std::size_t> slots_;  // by path
};

}  // namespace planning
