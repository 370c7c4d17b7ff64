// SPDX-License-Identifier: Apache-2.0
// collectives/schedule/team.hpp — participants that do a part of a collective together.
#pragma once
#include <span>

#include "collectives/schedule/topology.hpp"

namespace collectives {

/// A cyclic list of participants, and the index of this participant in it.
struct Team {
  std::span<const Rank> members;
  std::size_t me = 0;

  std::size_t size() const { return members.size(); }
  /// Return the index of the member that is `distance` positions after or before this participant
  /// in the cycle.
  /// Requires: distance <= size().
  std::size_t after(std::size_t distance) const { return round(me, distance); }
  std::size_t before(std::size_t distance) const { return round(me, size() - distance); }
  std::size_t round(std::size_t from, std::size_t distance) const {
    return from + distance < size() ? from + distance : from + distance - size();
  }
  Rank operator[](std::size_t index) const { return members[index]; }
};

/// Returns all participants in config order.
inline Team everybody(const Topology& topology, Rank me) {
  return {topology.order(), topology.position(me)};
}
/// Returns the participants of the cluster of `me`.
inline Team my_cluster(const Topology& topology, Rank me) {
  return {topology.cluster(topology.cluster_of(me)), topology.index_in_cluster(me)};
}

/// Returns the first member of each cluster, which represents the cluster.
inline std::vector<Rank> first_of_clusters(const Topology& topology) {
  std::vector<Rank> first;
  for (std::size_t number = 0; number < topology.clusters(); ++number)
    first.push_back(topology.cluster(number).front());
  return first;
}

/// Returns the members, rotated so that the member with index `begin` is first.
inline std::vector<Rank> rotated(std::span<const Rank> members, std::size_t begin) {
  std::vector<Rank> turned(members.begin(), members.end());
  std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(begin), turned.end());
  return turned;
}

inline bool is_power_of_two(std::size_t number) { return (number & (number - 1)) == 0; }

}  // namespace collectives
