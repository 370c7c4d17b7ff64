// SPDX-License-Identifier: Apache-2.0
// groups/execution/region_member.cpp — order of turns, and wake-ups by messages
#include "groups/execution/region_member.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/visible.hpp"

namespace groups {
namespace {

/// Name of the message that expect_failures() waits for, on the channel of an operation. Schedules
/// and MachineGroup use other names.
constexpr std::uint64_t name_of_failure = ~std::uint64_t{4};
constexpr std::size_t no_entry = std::numeric_limits<std::size_t>::max();

}  // namespace

// ---- turns -------------------------------------------------------------------------------------

void RegionMember::await_turn(const RegionOperation& operation) {
  runtime::Lock lock(mutex_);
  while (now_ != operation.turn)
    turn_ended_.wait(lock, runtime::Deadline::never(),
                     {"an earlier operation", operation.name.group, operation.name.number});
  if (first_failed_ < operation.turn)
    throw paths::TravelError(
        "", "", "",
        fmt::format("{}: an earlier operation of the group has failed", operation.name.text()));
}

void RegionMember::begin_turn(const RegionOperation& operation) {
  await_turn(operation);
  operation_ = &operation;
  throw_if_abandoned(operation);
}

void RegionMember::end_turn(std::uint64_t turn) { end_turn(turn, true); }

void RegionMember::end_turn(std::uint64_t turn, bool has_failed) {
  runtime::DeferredWakes wakes;
  const runtime::Lock lock(mutex_);
  if (turn < now_ || ended_.contains(turn)) return;
  if (has_failed) {
    first_failed_ = std::min(first_failed_, turn);
    if (member_ != nullptr) member_->fail(turn);
  }
  if (turn == now_)
    ++now_;
  else
    ended_.insert(turn);
  while (!ended_.empty() && ended_.erase(now_) > 0) ++now_;
  turn_ended_.wake_all(wakes);
}

bool RegionMember::run(const RegionOperation& operation,
                       const std::vector<std::uint32_t>& participants) {
  operation_ = &operation;
  try {
    return RegionExecution(operation, *member_, parts_.me, participants).run();
  } catch (const paths::CallsDiffer& differ) {
    throw paths::TravelError(
        "", "", "",
        fmt::format("{}: host {} calls '{}', but host {} calls '{}'", operation.name.text(),
                    parts_.lanes.own_host_name(), operation.text,
                    parts_.lanes.host_name(parts_.hosts[differ.member()]),
                    base::visible(differ.what())),
        paths::FailureCause::application);
  }
}

// ---- wake-ups ----------------------------------------------------------------------------------

void RegionMember::use(paths::SharedRegion region) {
  auto used = std::make_unique<paths::Member>(std::move(region), parts_.me, *this);
  {
    const runtime::Lock lock(mutex_);
    member_ = std::move(used);
    if (first_failed_ != no_turn) member_->fail(first_failed_);
  }
  waits_ = std::make_unique<runtime::WaitSet>(parts_.runtime);
  alarms_.resize(parts_.hosts.size());
  for (std::uint32_t member = 0; member < parts_.hosts.size(); ++member)
    if (member != parts_.me) listen(member);
}

void RegionMember::listen(std::uint32_t member) {
  alarms_[member] = parts_.lanes.receive(parts_.hosts[member], parts_.alarm_channel);
  entries_[waits_->add(alarms_[member])] = {member, true};
}

/// Sends an empty message. The returned handle is destroyed at once, which does not cancel the
/// message.
void RegionMember::wake(std::uint32_t member) {
  parts_.lanes.send(parts_.hosts[member], parts_.alarm_channel, {});
}

/// Starts to receive a message of each other host on the channel of the operation. No host ever
/// sends this message. The receive fails if the operation fails or the host is lost, and so
/// notifies this host. The receive has a second use when this host asks the other hosts whether
/// they can still take part: it shows them on which channel this host waits.
void RegionMember::expect_failures() {
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

void RegionMember::forget_failures() {
  lost_.clear();
  if (failures_.empty()) return;
  std::erase_if(entries_, [this](const auto& one) {
    if (!one.second.is_alarm) waits_->remove(one.first);
    return !one.second.is_alarm;
  });
  failures_.clear();
}

/// Waits for a wake-up or a failure. If a later operation has failed, there are no more wake-ups,
/// because that failure has also failed the channel for wake-ups. In that case waits for at most a
/// millisecond.
std::optional<std::size_t> RegionMember::wait_for_entry() {
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

/// Throws the failure of a lost host if that host is in the list `late`, the members for which this
/// host waits. Also throws the failure if no member is left whose message could end the wait.
void RegionMember::throw_if_lost(const std::vector<std::uint32_t>& late) const {
  if (lost_.empty()) return;
  for (const std::uint32_t member : late)
    if (const auto found = lost_.find(member); found != lost_.end())
      std::rethrow_exception(found->second);
  if (waits_->size() == 0) std::rethrow_exception(lost_.begin()->second);
}

void RegionMember::sleep(const std::function<std::vector<std::uint32_t>()>& late, bool is_again) {
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
    // The other members can continue if the lost host has done its part. The failure is stored,
    // because a later wait of the operation may be for the lost host.
    lost_[found.member] = std::current_exception();
    const auto members = late();
    if (members.empty()) throw;
    throw_if_lost(members);
  }
}

void RegionMember::check() { throw_if_abandoned(*operation_); }

}  // namespace groups
