// SPDX-License-Identifier: Apache-2.0
// groups/execution/machines.hpp — which hosts of a group are processes of one machine
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/schedule/topology.hpp"
#include "paths/plan/plan.hpp"

namespace groups {

/// The machines of a group, and the participants on each machine. Each cluster is one machine. The
/// machines have the order of the clusters in the topology.
class Machines {
 public:
  /// Returns the machines of the participants `hosts`. `topology` is the topology of these
  /// participants. Returns nullopt if the group cannot use shared regions, for example because
  /// hosts of one cluster are not on one machine. Does not check whether hosts are processes and
  /// whether shared memory is allowed. All hosts get the same result.
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
  /// Returns the index of a participant among the participants on its machine.
  std::uint32_t index_of(std::uint32_t participant) const;
  /// Returns the leader of each machine: the participant that exchanges values with other machines.
  /// The leader is `root` on the machine of `root`, and the first participant on other machines.
  std::vector<std::uint32_t> leaders(std::optional<std::uint32_t> root) const;

 private:
  std::vector<std::vector<std::uint32_t>> participants_;  // indexed by machine
  std::vector<std::uint32_t> machines_;                   // indexed by participant
};

/// Returns the host number in the run of each given participant. `hosts` contains the host number
/// of every participant of the group.
std::vector<std::uint32_t> hosts_of(const std::vector<std::uint32_t>& participants,
                                    const std::vector<std::uint32_t>& hosts);

}  // namespace groups
