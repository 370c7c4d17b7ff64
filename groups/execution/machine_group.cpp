// SPDX-License-Identifier: Apache-2.0
// groups/execution/machine_group.cpp — agreement on shared memory, and operations in it
#include "groups/execution/machine_group.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <system_error>
#include <utility>

#include "base/buffer.hpp"

namespace groups {
namespace {

using collectives::Collective;

/// Message channels for wake-ups. A failed operation fails all channels with higher numbers. The
/// channels for wake-ups have higher numbers than any operation, so every failed operation also
/// fails these channels.
constexpr std::uint64_t alarm_channel_of_values = std::numeric_limits<std::uint64_t>::max() - 1,
                        alarm_channel_of_results = alarm_channel_of_values - 1;
/// Names of messages on the channel of an operation. A schedule never uses such names.
constexpr std::uint64_t name_of_mapped = ~std::uint64_t{0}, name_of_agreed = ~std::uint64_t{1},
                        name_of_door[] = {~std::uint64_t{2}, ~std::uint64_t{3}};
constexpr const char* yes = "y";

}  // namespace

MachineGroup::MachineGroup(const Parts& parts)
    : parts_(parts),
      machine_(parts.machines.machine_of(parts.participant)),
      hosts_(hosts_of(parts.machines.participants(machine_), parts.hosts)),
      me_(parts.machines.index_of(parts.participant)),
      topology_(std::make_shared<const collectives::Topology>(
          collectives::Topology::clustered({hosts_.size()}))),
      values_({parts.runtime, parts.lanes, hosts_, me_, alarm_channel_of_values}),
      results_({parts.runtime, parts.lanes, hosts_, me_, alarm_channel_of_results}) {}

bool MachineGroup::can_lead(Collective collective, std::uint64_t bytes) {
  constexpr std::uint64_t bytes_max = std::uint64_t{1} << 20;
  return bytes <= bytes_max &&
         (collective == Collective::broadcast || collective == Collective::reduce ||
          collective == Collective::allreduce || collective == Collective::barrier);
}

void MachineGroup::end(std::uint64_t turn) {
  values_.end_turn(turn);
  if (!parts_.machines.is_one()) results_.end_turn(turn);
}

std::string_view MachineGroup::run(const RegionOperation& operation, const Between& between) {
  bool has_region = false;
  if (parts_.machines.is_one()) {
    bool is_mapped = false;
    values_.in_turn(operation, [&] {
      has_region = meet(operation);
      if (has_region) is_mapped = values_.run(operation, members());
    });
    return !has_region ? "" : is_mapped ? mapped_arrays_name : shared_memory_name;
  }
  const collectives::CollectiveSpec& task = operation.task;
  const bool has_root = collectives::has_root(task.collective),
             has_in = task.collective != Collective::broadcast;
  const auto leaders = parts_.machines.leaders(has_root ? std::optional(task.root) : std::nullopt);
  const std::uint32_t leader = parts_.machines.index_of(leaders[machine_]);
  base::Buffer sum;
  if (leader == me_ && has_in) sum = base::Buffer(operation.in.size());
  values_.in_turn(operation, [&] {
    has_region = meet(operation);
    if (!has_region) return;
    if (task.collective == Collective::barrier)
      run_part(operation, Collective::barrier, leader, {}, values_);
    else if (has_in)
      run_part(operation, Collective::reduce, leader, sum.bytes(), values_);
  });
  if (!has_region) return "";
  if (leader == me_) {
    throw_if_abandoned(operation);
    between(operation,
            {.leaders = leaders, .machine = machine_, .in = sum.bytes(), .out = operation.out});
  }
  results_.in_turn(operation, [&] {
    if (task.collective != Collective::reduce)
      run_part(operation, Collective::broadcast, leader, operation.out, results_);
  });
  return shared_memory_name;
}

/// Carries out one step of the operation, such as its reduction to the leader, among the hosts of
/// this machine.
void MachineGroup::run_part(const RegionOperation& operation, Collective collective,
                            std::uint32_t root, std::span<std::byte> out, RegionMember& region) {
  if (hosts_.size() == 1) {
    if (collective != Collective::reduce) return;
    check_own(operation, operation.task.vector());
    std::ranges::copy(operation.in, out.begin());
    return;
  }
  const collectives::CollectiveSpec task{collective, topology_, operation.task.counts, root};
  // A leader waits twice: first for the hosts of its machine, then for other leaders. The other
  // hosts of the machine do not see the leader's progress between the two waits. They therefore
  // wait twice as long for the result. If one of the leader's waits exceeds the patience, the
  // leader fails the operation itself.
  Patience patience = operation.patience;
  if (collective == Collective::broadcast && me_ != root) patience.longest *= 2;
  region.run({.turn = operation.turn,
              .name = operation.name,
              .task = task,
              .digest = operation.digest,
              .text = operation.text,
              .element_bytes = operation.element_bytes,
              .in = operation.in,
              .out = out,
              .places = nullptr,
              .is_in_unchecked = operation.is_in_unchecked,
              .fold = operation.fold,
              .patience = patience,
              .trace = operation.trace,
              .is_abandoned = operation.is_abandoned},
             members());
}

// ---- agreement ---------------------------------------------------------------------------------

/// Returns whether the group has shared regions. In the first call, the first member of each
/// machine makes the regions, and sends names to the other members, under which these can map the
/// regions. Then all hosts agree by messages whether every host has its regions.
bool MachineGroup::meet(const RegionOperation& operation) {
  if (state_ != State::unknown) return state_ == State::mapped;
  const std::size_t regions = hosts_.size() == 1 ? 0 : parts_.machines.is_one() ? 1 : 2;
  std::array<std::optional<runtime::DescriptorDoor>, 2> doors;
  std::array<std::optional<paths::SharedRegion>, 2> made;
  bool has_regions = true;
  for (std::size_t region = 0; region < regions; ++region) {
    made[region] =
        me_ == 0 ? make_region(operation, region, doors[region]) : map_region(operation, region);
    has_regions &= made[region].has_value();
  }
  state_ = agree(operation, has_regions) ? State::mapped : State::refused;
  if (state_ == State::refused) return false;
  for (std::size_t region = 0; region < regions; ++region) {
    made[region]->close_descriptor();
    (region == 0 ? values_ : results_).use(std::move(*made[region]));
  }
  return true;
}

std::optional<paths::SharedRegion> MachineGroup::make_region(
    const RegionOperation& operation, std::size_t number,
    std::optional<runtime::DescriptorDoor>& door) {
  std::optional<paths::SharedRegion> region;
  std::string name;
  try {
    name = runtime::DescriptorDoor::new_name("region");
    region = paths::SharedRegion::make(static_cast<std::uint32_t>(hosts_.size()));
    door.emplace(name, base::Descriptor(dup(region->descriptor().get())));
  } catch (const std::system_error&) {  // without regions, the group uses lanes, which are slower
    region.reset();
    name.clear();
  }
  for (std::size_t member = 1; member < hosts_.size(); ++member)
    send(operation, hosts_[member], name_of_door[number], name);
  return region;
}

std::optional<paths::SharedRegion> MachineGroup::map_region(const RegionOperation& operation,
                                                            std::size_t number) {
  const std::string door = receive(operation, hosts_[0], name_of_door[number]);
  try {
    if (!door.empty())
      return paths::SharedRegion::map(runtime::DescriptorDoor::knock(geteuid(), door),
                                      static_cast<std::uint32_t>(hosts_.size()));
  } catch (const std::system_error&) {  // without regions, the group uses lanes, which are slower
  }
  return std::nullopt;
}

/// Returns whether all hosts of the group have their regions. The first member of each machine
/// collects the answers of its machine. The first host of the group collects the answers of the
/// other machines, and distributes the result.
bool MachineGroup::agree(const RegionOperation& operation, bool has_regions) {
  const auto first_on = [this](std::uint32_t machine) {
    return parts_.hosts[parts_.machines.participants(machine).front()];
  };
  std::vector<std::uint32_t> asked;
  if (me_ == 0) {
    asked.assign(hosts_.begin() + 1, hosts_.end());
    for (std::uint32_t machine = 1; machine_ == 0 && machine < parts_.machines.size(); ++machine)
      asked.push_back(first_on(machine));
  }
  for (const std::uint32_t host : asked)
    has_regions &= receive(operation, host, name_of_mapped) == yes;
  if (me_ != 0 || machine_ != 0) {
    const std::uint32_t asking = me_ != 0 ? hosts_[0] : first_on(0);
    send(operation, asking, name_of_mapped, has_regions ? yes : "");
    // Waits up to three times the patience: the host that sends the result may first wait for other
    // hosts, and those hosts may wait for further hosts.
    has_regions = receive(operation, asking, name_of_agreed, 3) == yes;
  }
  for (const std::uint32_t host : asked)
    send(operation, host, name_of_agreed, has_regions ? yes : "");
  return has_regions;
}

void MachineGroup::send(const RegionOperation& operation, std::uint32_t host, std::uint64_t name,
                        const std::string& text) {
  const OperationName& of = operation.name;
  parts_.lanes.send(host,
                    paths::NamedMessage{of.number, name, of.signature_digest, of.number << 32},
                    base::Payload::copy_of(std::as_bytes(std::span(text))));
}

std::string MachineGroup::receive(const RegionOperation& operation, std::uint32_t host,
                                  std::uint64_t name, int deadlines) {
  const OperationName& of = operation.name;
  auto receiving = parts_.lanes.receive(
      host, paths::NamedMessage{
                .channel = of.number, .name = name, .signature_digest = of.signature_digest});
  runtime::WaitSet waits(parts_.runtime);
  waits.add(receiving);
  Patience patience = operation.patience;
  patience.longest *= deadlines;
  if (!wait_patiently(waits, parts_.runtime, patience))
    throw_late(of.text(), parts_.lanes, {host}, patience.longest);
  const base::Payload message = receiving.wait().payload;
  const std::span<const std::byte> bytes = message.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace groups
