// SPDX-License-Identifier: Apache-2.0
// groups/execution/machine_group.hpp — operations of a group in memory that a machine's hosts share
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groups/execution/machines.hpp"
#include "groups/execution/region_execution.hpp"
#include "groups/execution/region_member.hpp"
#include "paths/messages/group.hpp"
#include "runtime/processes/descriptor_door.hpp"

namespace groups {

/// Operations of a group in shared memory (the region). Each machine has regions of its own. Large
/// values pass through a region in chunks. Each host has one MachineGroup. In the first operation,
/// the hosts agree by messages whether all of them have mapped the regions of their machine. If a
/// host could not map its regions, the group uses messages for all operations. Messages give the
/// same results as regions.
///
/// If the group has several machines, one host of each machine leads that machine. A machine first
/// folds its values in its region. Then the leaders exchange values by messages (argument `between`
/// of run()). Each leader writes the result to a second region of its machine. The first region is
/// then free, so a machine can fold the values of later operations while its leaders of earlier
/// operations wait for messages.
///
/// Thread-safe: run() and end() of different operations may overlap. Operations take effect in the
///              order of their turns. The caller's mutex guards new_turn().
/// Failure:     After an exception of run(), all later operations fail. The other hosts learn of
///              the failure through the messages of the group, and fail, too.
class MachineGroup {
 public:
  /// Objects that a MachineGroup uses. All must outlive it.
  struct Parts {
    const runtime::Runtime& runtime;
    paths::MessageGroup& lanes;
    const std::vector<std::uint32_t>& hosts;  ///< host number in the run of each participant
    const Machines& machines;
    std::uint32_t participant;  ///< number of this host as a participant
  };
  explicit MachineGroup(const Parts& parts);

  /// Arrays of a leader for its part in the exchange between machines.
  struct Leading {
    const std::vector<std::uint32_t>& leaders;  ///< leading participant of each machine
    std::uint32_t machine = 0;                  ///< index of this host in `leaders`
    std::span<std::byte> in = {};               ///< value of the machine; empty for a broadcast
    std::span<std::byte> out = {};
  };
  using Between = std::function<void(const RegionOperation& operation, const Leading& leading)>;
  /// Returns whether a group of several machines uses its regions for a collective on vectors of
  /// `bytes` bytes. For large vectors the group uses a schedule of all hosts instead. Such a
  /// schedule can send some parts of a vector while it folds other parts.
  static bool can_lead(collectives::Collective collective, std::uint64_t bytes);
  /// Returns the turn of the next operation: 1, 2, ... The turn is the operation's position in the
  /// order of all operations of the group.
  std::uint64_t new_turn() { return ++turns_; }

  /// Carries out the operation in the region. If the group has several machines, calls `between` in
  /// the leader of each machine. Returns a name for the way in which the operation used memory:
  /// shared_memory_name or mapped_arrays_name. Returns "" if the group has no region; the operation
  /// was then not carried out.
  ///
  /// Blocks: until earlier turns have ended, and then until the other hosts have arrived.
  /// Throws: TravelError, OwnBadValue, base::BadValue, and what `between` throws.
  std::string_view run(const RegionOperation& operation, const Between& between);
  /// Ends a turn, so that later operations can run. Must be called once for each turn, even if the
  /// operation failed before run(). After such a failure all later operations fail, too.
  void end(std::uint64_t turn);

 private:
  enum class State : std::uint8_t { unknown, mapped, refused };
  const std::vector<std::uint32_t>& members() const {
    return parts_.machines.participants(machine_);
  }
  void run_part(const RegionOperation& operation, collectives::Collective collective,
                std::uint32_t root, std::span<std::byte> out, RegionMember& region);
  bool meet(const RegionOperation& operation);
  std::optional<paths::SharedRegion> make_region(const RegionOperation& operation,
                                                 std::size_t number,
                                                 std::optional<runtime::DescriptorDoor>& door);
  std::optional<paths::SharedRegion> map_region(const RegionOperation& operation,
                                                std::size_t number);
  bool agree(const RegionOperation& operation, bool has_regions);
  void send(const RegionOperation& operation, std::uint32_t host, std::uint64_t name,
            const std::string& text);
  std::string receive(const RegionOperation& operation, std::uint32_t host, std::uint64_t name,
                      int deadlines = 1);

  const Parts parts_;
  const std::uint32_t machine_;             // number of this host's machine
  const std::vector<std::uint32_t> hosts_;  // this machine's hosts, as host numbers in the run
  const std::uint32_t me_;                  // index of this host in hosts_
  const std::shared_ptr<const collectives::Topology> topology_;  // topology of hosts_
  std::uint64_t turns_ = 0;
  State state_ = State::unknown;  // written in the first turn of values_
  RegionMember values_;           // region for folds; for all operations if there is one machine
  RegionMember results_;          // region for results of leaders; unused if there is one machine
};

}  // namespace groups
