// SPDX-License-Identifier: Apache-2.0
// groups/machine_group.cpp — agreement on shared memory, operations in it, wake-ups by messages
#include "groups/machine_group.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

#include "base/visible.hpp"
#include "paths/one_machine.hpp"
#include "paths/plan/ways.hpp"
#include "runtime/processes/descriptor_door.hpp"

namespace groups {
namespace {

/// Channel of wake-ups. A failed operation fails all channels with higher numbers. This channel has
/// a higher number than any operation, so it fails with any operation.
constexpr std::uint64_t alarm_channel = std::numeric_limits<std::uint64_t>::max() - 1;
/// Names of messages on the channel of an operation. A schedule never uses such names.
constexpr std::uint64_t name_of_door = ~std::uint64_t{0}, name_of_mapped = ~std::uint64_t{1},
                        name_of_agreed = ~std::uint64_t{2}, name_of_failure = ~std::uint64_t{3};
constexpr std::size_t no_entry = std::numeric_limits<std::size_t>::max();
constexpr const char* yes = "y";

/// Returns a name that no other process can guess.
std::string new_door_name() {
  std::array<std::uint64_t, 2> words{};
  if (getentropy(words.data(), sizeof words) != 0)
    throw std::system_error(errno, std::generic_category(), "no random numbers");
  return fmt::format("region-{:016x}{:016x}", words[0], words[1]);
}

}  // namespace

bool MachineGroup::is_possible(const paths::Plan& plan, const std::vector<std::uint32_t>& hosts,
                               const collectives::Topology& topology) {
  if (topology.depth() > 0 || hosts.size() < 2 || hosts.size() > paths::SharedRegion::members_max)
    return false;
  return std::all_of(hosts.begin(), hosts.end(), [&](std::uint32_t host) {
    return plan.hosts[host].cluster == plan.hosts[hosts[0]].cluster &&
           paths::are_of_one_machine(plan.hosts[host].address, plan.hosts[hosts[0]].address) &&
           !paths::outgoing_link(plan, host).is_there() &&
           !paths::receiving_link(plan, host).is_there();
  });
}

// ---- turns -------------------------------------------------------------------------------------

void MachineGroup::await_turn(const RegionOperation& operation) {
  runtime::Lock lock(mutex_);
  while (now_ != operation.turn)
    turn_ended_.wait(lock, runtime::Deadline::never(),
                     {"an earlier operation", operation.name.group, operation.name.number});
  if (first_failed_ < operation.turn)
    throw paths::TravelError(
        "", "", "",
        fmt::format("{}: an earlier operation of the group has failed", operation.name.text()));
}

void MachineGroup::end(std::uint64_t turn) {
  runtime::DeferredWakes wakes;
  const runtime::Lock lock(mutex_);
  if (succeeded_ != turn) first_failed_ = std::min(first_failed_, turn);
  if (turn == now_)
    ++now_;
  else
    ended_.insert(turn);
  while (!ended_.empty() && ended_.erase(now_) > 0) ++now_;
  turn_ended_.wake_all(wakes);
}

bool MachineGroup::run(const RegionOperation& operation) {
  await_turn(operation);
  operation_ = &operation;
  throw_if_abandoned(operation);
  const bool has_region = meet();
  try {
    if (has_region) RegionExecution(operation, *member_, parts_.me).run();
  } catch (const paths::CallsDiffer& differ) {
    member_->fail(operation.turn);
    throw paths::TravelError(
        "", "", "",
        fmt::format("{}: host {} calls '{}', but host {} calls '{}'", operation.name.text(),
                    parts_.lanes.own_host_name(), operation.text,
                    parts_.lanes.host_name(parts_.hosts[differ.member()]),
                    base::visible(differ.what())),
        paths::FailureCause::application);
  } catch (...) {
    member_->fail(operation.turn);
    throw;
  }
  forget_failures();
  const runtime::Lock lock(mutex_);
  succeeded_ = operation.turn;
  return has_region;
}

// ---- agreement ---------------------------------------------------------------------------------

/// Returns whether the group has a shared region. At the first call, the hosts agree on that by
/// messages.
bool MachineGroup::meet() {
  if (state_ != State::unknown) return state_ == State::mapped;
  std::optional<paths::SharedRegion> region = parts_.me == 0 ? make_and_agree() : map_and_agree();
  state_ = region ? State::mapped : State::refused;
  if (!region) return false;
  region->close_descriptor();
  member_ = std::make_unique<paths::Member>(std::move(*region), parts_.me, *this);
  waits_ = std::make_unique<runtime::WaitSet>(parts_.runtime);
  alarms_.resize(parts_.hosts.size());
  for (std::uint32_t member = 0; member < parts_.hosts.size(); ++member)
    if (member != parts_.me) listen(member);
  return true;
}

/// Runs on the first member. It makes the region and sends the others the name under which they get
/// it. Each of them replies whether it has mapped the region. The first member then sends all of
/// them whether every member has mapped it.
std::optional<paths::SharedRegion> MachineGroup::make_and_agree() {
  std::optional<paths::SharedRegion> region;
  std::optional<runtime::DescriptorDoor> door;
  std::string name;
  const auto members = static_cast<std::uint32_t>(parts_.hosts.size());
  try {
    name = new_door_name();
    region = paths::SharedRegion::make(members);
    door.emplace(name, base::Descriptor(dup(region->descriptor().get())));
  } catch (const std::system_error&) {  // lanes do the same, only slower
    region.reset();
    name.clear();
  }
  for (std::uint32_t member = 1; member < members; ++member) send(member, name_of_door, name);
  bool is_agreed = region.has_value();
  for (std::uint32_t member = 1; member < members; ++member)
    is_agreed &= receive(member, name_of_mapped) == yes;
  for (std::uint32_t member = 1; member < members; ++member)
    send(member, name_of_agreed, is_agreed ? yes : "");
  if (!is_agreed) region.reset();
  return region;
}

std::optional<paths::SharedRegion> MachineGroup::map_and_agree() {
  const std::string door = receive(0, name_of_door);
  std::optional<paths::SharedRegion> region;
  try {
    if (!door.empty())
      region = paths::SharedRegion::map(runtime::DescriptorDoor::knock(geteuid(), door),
                                        static_cast<std::uint32_t>(parts_.hosts.size()));
  } catch (const std::system_error&) {  // lanes do the same, only slower
  }
  send(0, name_of_mapped, region ? yes : "");
  if (receive(0, name_of_agreed) != yes) region.reset();
  return region;
}

void MachineGroup::send(std::uint32_t member, std::uint64_t name, const std::string& text) {
  const OperationName& of = operation_->name;
  parts_.lanes.send(parts_.hosts[member],
                    paths::NamedMessage{of.number, name, of.signature_digest, of.number << 32},
                    base::Payload::copy_of(std::as_bytes(std::span(text))));
}

std::string MachineGroup::receive(std::uint32_t member, std::uint64_t name) {
  const OperationName& of = operation_->name;
  auto receiving = parts_.lanes.receive(
      parts_.hosts[member],
      paths::NamedMessage{
          .channel = of.number, .name = name, .signature_digest = of.signature_digest});
  runtime::WaitSet waits(parts_.runtime);
  waits.add(receiving);
  if (!wait_patiently(waits, parts_.runtime, operation_->patience))
    throw_late(of.text(), parts_.lanes, {parts_.hosts[member]}, operation_->patience.longest);
  const base::Payload message = receiving.wait().payload;
  const std::span<const std::byte> bytes = message.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// ---- wake-ups ----------------------------------------------------------------------------------

void MachineGroup::listen(std::uint32_t member) {
  alarms_[member] = parts_.lanes.receive(parts_.hosts[member], alarm_channel);
  entries_[waits_->add(alarms_[member])] = {member, true};
}

/// The message is sent even though the handle is dropped. A member that has left needs none.
void MachineGroup::wake(std::uint32_t member) {
  parts_.lanes.send(parts_.hosts[member], alarm_channel, {});
}

/// Waits for a message of each other host on the channel of the operation. No host sends such a
/// message. The wait fails if the operation fails, or if the host is lost. When this host asks, the
/// other hosts compare their use of the channel with this wait.
void MachineGroup::expect_failures() {
  const OperationName& of = operation_->name;
  failures_.resize(parts_.hosts.size());
  for (std::uint32_t member = 0; member < parts_.hosts.size(); ++member) {
    if (member == parts_.me) continue;
    failures_[member] = parts_.lanes.receive(
        parts_.hosts[member], paths::NamedMessage{.channel = of.number,
                                                  .name = name_of_failure,
                                                  .signature_digest = of.signature_digest,
                                                  .is_little = true});
    entries_[waits_->add(failures_[member])] = {member, false};
  }
}

void MachineGroup::forget_failures() {
  lost_.clear();
  if (failures_.empty()) return;
  std::erase_if(entries_, [this](const auto& one) {
    if (!one.second.is_alarm) waits_->remove(one.first);
    return !one.second.is_alarm;
  });
  failures_.clear();
}

/// Waits for a wake-up or a failure. Without wake-ups, because the channel of wake-ups has failed
/// with a later operation, waits for a millisecond.
std::optional<std::size_t> MachineGroup::wait_for_entry() {
  if (!are_alarms_lost_) return wait_patiently(*waits_, parts_.runtime, operation_->patience);
  const base::Nanos now = parts_.runtime.now();
  if (now > slept_since_ + operation_->patience.longest) return std::nullopt;
  if (now >= asks_at_ && operation_->patience.ask_hosts) {
    operation_->patience.ask_hosts();
    asks_at_ = now + std::chrono::milliseconds(250);
  }
  const auto entry = waits_->any(runtime::Deadline::written_at(now + std::chrono::milliseconds(1)));
  return entry ? entry : std::optional(no_entry);
}

/// Throws the failure of a lost host, if it is one of these members, or if no other can be awaited.
void MachineGroup::throw_if_lost(const std::vector<std::uint32_t>& late) const {
  if (lost_.empty()) return;
  for (const std::uint32_t member : late)
    if (const auto found = lost_.find(member); found != lost_.end())
      std::rethrow_exception(found->second);
  if (waits_->size() == 0) std::rethrow_exception(lost_.begin()->second);
}

void MachineGroup::sleep(const std::function<std::vector<std::uint32_t>()>& late, bool is_again) {
  if (!is_again) slept_since_ = parts_.runtime.now();
  if (failures_.empty()) expect_failures();
  throw_if_lost(late());
  const auto entry = wait_for_entry();
  if (!entry) {
    std::vector<std::uint32_t> hosts;
    for (const std::uint32_t member : late()) hosts.push_back(parts_.hosts[member]);
    throw_late(operation_->name.text(), parts_.lanes, hosts, operation_->patience.longest);
  }
  if (*entry == no_entry) return;
  const Entry found = entries_.extract(*entry).mapped();
  try {
    std::exchange((found.is_alarm ? alarms_ : failures_)[found.member], {}).wait();
    if (found.is_alarm) listen(found.member);
  } catch (const paths::TravelError&) {
    if (found.is_alarm) {
      are_alarms_lost_ = true;
      return;
    }
    // A lost host that has done its part does not keep the others from theirs. A later wait of the
    // operation may be for it.
    lost_[found.member] = std::current_exception();
    const auto members = late();
    if (members.empty()) throw;
    throw_if_lost(members);
  }
}

void MachineGroup::check() { throw_if_abandoned(*operation_); }

}  // namespace groups
