// SPDX-License-Identifier: Apache-2.0
// groups/execution/leaders.hpp — messages between the hosts that lead the machines of a group
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "groups/execution/machine_group.hpp"
#include "groups/execution/machines.hpp"
#include "groups/execution/region_execution.hpp"
#include "groups/selection/selection.hpp"
#include "paths/host/deployment.hpp"
#include "paths/messages/group.hpp"

namespace groups {

/// Exchange of values between the machines of a group. The leader of each machine, one of its
/// hosts, executes the steps of a schedule and sends messages to the other leaders.
///
/// Borrows:     all arguments of the constructor.
/// Thread-safe: yes.
class Leaders {
 public:
  /// `hosts` contains the host number in the run for each participant of the group.
  Leaders(const paths::Deployment& deployment, paths::MessageGroup& lanes, const Machines& machines,
          const std::vector<std::uint32_t>& hosts);
  /// Returns the schedule between the leaders for an operation of the group. All hosts get the same
  /// schedule. `question.root` is the number of a participant of the group, not of a machine.
  std::shared_ptr<const Selection> selection(SelectionKey question) const;
  /// Executes this leader's part of the schedule. Returns the traffic that it has sent.
  /// Blocks: until the messages of the other leaders have arrived.
  /// Throws: TravelError, base::BadValue.
  paths::Traffic run(const RegionOperation& operation, const SelectionKey& question,
                     const MachineGroup::Leading& leading) const;

 private:
  runtime::Runtime& runtime_;
  paths::MessageGroup& lanes_;
  const Machines& machines_;
  const std::vector<std::uint32_t>& hosts_;
  // Selector for the network between the first hosts of the machines.
  const std::shared_ptr<Selector> selector_;
};

}  // namespace groups
