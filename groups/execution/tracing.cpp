// SPDX-License-Identifier: Apache-2.0
// groups/execution/tracing.cpp — trace records of group operations: of hosts, members and steps.
#include "groups/execution/tracing.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace groups {

std::unique_ptr<GroupTrace> GroupTrace::of(paths::Deployment& deployment, const Layout& layout,
                                           std::uint32_t participant, const std::string& name,
                                           TraceNumbers& numbers) {
  if (!deployment.recorder().is_on()) return nullptr;
  return std::make_unique<GroupTrace>(deployment, layout, participant, name, numbers);
}

/// Names the trace. If a group of the same name existed before, the name gets a number.
GroupTrace::GroupTrace(paths::Deployment& deployment, const Layout& layout,
                       std::uint32_t participant, const std::string& name, TraceNumbers& numbers)
    : deployment_(deployment), layout_(layout), participant_(participant), numbers_(numbers) {
  const runtime::Lock lock(numbers_.mutex);
  const std::uint32_t times = ++numbers_.made[name];
  name_ = times == 1 ? name : fmt::format("{} ({})", name, times);
}

std::uint32_t GroupTrace::told(const eventspace::GroupOperation& operation) {
  const std::string text = eventspace::text_of(operation);
  const std::uint32_t number = eventspace::text_number(text);
  {
    const runtime::Lock lock(mutex_);
    if (!told_.insert(number).second) return number;
  }
  for (const auto& record : eventspace::records_of(text, deployment_.runtime().now().count()))
    deployment_.recorder().add(record);
  return number;
}

ShareTrace::ShareTrace(GroupTrace& group, std::uint64_t operation)
    : group_(group),
      operation_(operation),
      number_(group.numbers_.shares++),
      came_(group.layout_.members_on(group.participant_)) {}

std::int64_t ShareTrace::now() const { return group_.deployment_.runtime().now().count(); }

std::uint32_t ShareTrace::host() const { return host(group_.participant_); }

std::uint32_t ShareTrace::host(std::uint32_t participant) const {
  return group_.layout_.hosts()[participant];
}

bool ShareTrace::records_prediction() const { return group_.participant_ == 0; }

bool ShareTrace::takes_stated_times() const { return group_.deployment_.runtime().is_virtual(); }

void ShareTrace::came(std::size_t member, bool waits) {
  came_[member] = now();
  if (!waits)
    group_.deployment_.recorder().add(
        call_record(eventspace::EventKind::start, member, came_[member]));
}

void ShareTrace::waited(std::size_t member, std::int64_t begin_nanos) const {
  group_.deployment_.recorder().add(call_record(eventspace::EventKind::wait, member, begin_nanos));
}

/// Returns the record of a member's call or wait, from `begin_nanos` until now.
eventspace::EventRecord ShareTrace::call_record(eventspace::EventKind kind, std::size_t member,
                                                std::int64_t begin_nanos) const {
  eventspace::EventRecord record;
  record.kind = static_cast<std::uint8_t>(kind);
  record.flags = eventspace::event_in_group;
  record.place = group_.layout_.thread_at(group_.layout_.first_on(group_.participant_) +
                                          static_cast<std::uint32_t>(member));
  record.slot = number_;
  record.down_nanos = begin_nanos;
  record.up_nanos = now();
  return record;
}

void ShareTrace::add(eventspace::GroupStep step) {
  step.share = number_;
  step.end_nanos = now();
  group_.deployment_.recorder().add(eventspace::record_of(step));
}

void ShareTrace::end(const Calls& calls, bool has_failed) {
  const Layout& layout = group_.layout_;
  eventspace::GroupShare share;
  share.text =
      group_.told({group_.name_, std::string(collectives::name_of(calls.front()->collective)),
                   schedule_.algorithm, schedule_.reason, schedule_.row});
  share.share = number_;
  share.operation = static_cast<std::uint32_t>(operation_);
  share.hosts = static_cast<std::uint32_t>(layout.hosts().size());
  share.has_failed = has_failed;
  share.begin_nanos = *std::max_element(came_.begin(), came_.end());
  share.end_nanos = now();
  const std::uint32_t first = layout.first_on(group_.participant_);
  for (std::uint32_t member = 0; member < came_.size(); ++member) {
    const Call& call = *calls[member];
    group_.deployment_.recorder().add(eventspace::record_of(eventspace::GroupMember{
        layout.thread_at(first + member), share.text, number_,
        std::max<std::uint64_t>(call.in.size(), call.out.size()), came_[member], share.end_nanos}));
  }
  if (schedule_.predicted > base::Nanos(0))
    group_.deployment_.recorder().add(eventspace::record_of(eventspace::GroupPrediction{
        share.text, number_, static_cast<std::uint64_t>(schedule_.predicted.count()),
        schedule_.measured_per_predicted, share.end_nanos}));
  group_.deployment_.recorder().add(eventspace::record_of(share));
}

}  // namespace groups
