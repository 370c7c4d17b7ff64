// SPDX-License-Identifier: Apache-2.0
// groups/leaders.hpp — messages between the hosts that lead the machines of a group
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "groups/machine_group.hpp"
#include "groups/machines.hpp"
#include "groups/region_execution.hpp"
#include "groups/selection.hpp"
#include "paths/host/deployment.hpp"
#include "paths/messages/group.hpp"

namespace groups {

/// The schedules by which one host of each machine exchanges values with the others.
///
/// Borrows:     all arguments of the constructor.
/// Thread-safe: yes.
class Leaders {
 public:
  /// `hosts` are the numbers in the run of the group's participants.
  Leaders(const paths::Deployment& deployment, paths::MessageGroup& lanes, const Machines& machines,
          const std::vector<std::uint32_t>& hosts);
  /// Returns the schedule for an operation of the group, which all hosts choose alike. The root in
  /// `question` is a participant of the group.
  std::shared_ptr<const Selection> selection(SelectionKey question) const;
  /// Carries out the part of a leader. Returns what it has sent.
  /// Blocks: until the messages of the other leaders have arrived.
  /// Throws: TravelError, base::BadValue.
  paths::Traffic run(const RegionOperation& operation, const SelectionKey& question,
                     const MachineGroup::Leading& leading) const;

 private:
  runtime::Runtime& runtime_;
  paths::MessageGroup& lanes_;
  const Machines& machines_;
  const std::vector<std::uint32_t>& hosts_;
  const std::shared_ptr<Selector> selector_;  // selector of the first hosts
};

}  // namespace groups
