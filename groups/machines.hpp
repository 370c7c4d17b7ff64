// SPDX-License-Identifier: Apache-2.0
// groups/machines.hpp — which hosts of a group are processes of one machine
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/schedule/topology.hpp"
#include "paths/plan/plan.hpp"

namespace groups {

/// The participants of a group by machine. Each cluster is one machine, and the machines are in the
/// order of the topology.
class Machines {
 public:
  /// Returns nullopt unless the hosts of each cluster can share a region, if they are processes and
  /// the plan allows shared memory. `hosts` are the participants, and `topology` is theirs. All
  /// hosts get the same result.
  static std::optional<Machines> of(const paths::Plan& plan,
                                    const std::vector<std::uint32_t>& hosts,
                                    const collectives::Topology& topology);

  std::uint32_t size() const { return static_cast<std::uint32_t>(participants_.size()); }
  bool is_one() const { return size() == 1; }
  /// Returns the participants on a machine, in ascending order.
  const std::vector<std::uint32_t>& participants(std::uint32_t machine) const {
    return participants_[machine];
  }
  std::uint32_t machine_of(std::uint32_t participant) const { return machines_[participant]; }
  /// Returns the position of a participant among those of its machine.
  std::uint32_t index_of(std::uint32_t participant) const;
  /// Returns the participant of each machine that exchanges values with other machines: the first,
  /// or `root` on its machine.
  std::vector<std::uint32_t> leaders(std::optional<std::uint32_t> root) const;

 private:
  std::vector<std::vector<std::uint32_t>> participants_;  // indexed by machine
  std::vector<std::uint32_t> machines_;                   // indexed by participant
};

/// Returns the number in the run of each of these participants. `hosts` has those of all.
std::vector<std::uint32_t> hosts_of(const std::vector<std::uint32_t>& participants,
                                    const std::vector<std::uint32_t>& hosts);

}  // namespace groups
