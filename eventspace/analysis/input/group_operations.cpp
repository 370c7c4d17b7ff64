// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/input/group_operations.cpp — assembly of operations from hosts' parts.
#include "eventspace/analysis/input/group_operations.hpp"

#include <algorithm>

namespace eventspace {

std::int64_t HostShare::duration_nanos() const {
  std::int64_t first = share.begin_nanos;
  for (const GroupMember& member : members) first = std::min(first, member.begin_nanos);
  return share.end_nanos - first;
}

std::int64_t WholeOperation::longest_nanos() const {
  std::int64_t longest = 0;
  for (const HostShare& share : shares) longest = std::max(longest, share.duration_nanos());
  return longest;
}

std::uint64_t WholeOperation::bytes_max() const {
  std::uint64_t bytes = 0;
  for (const HostShare& share : shares)
    for (const GroupMember& member : share.members) bytes = std::max(bytes, member.bytes);
  return bytes;
}

void GroupOperations::add(std::uint32_t host, const EventRecord& record) {
  switch (static_cast<GroupEvent>(static_cast<std::uint8_t>(record.kind))) {
    case GroupEvent::text: texts_.add(record); return;
    case GroupEvent::step: {
      const GroupStep step = step_of(record);
      shares_[{host, step.share}].steps.push_back(step);
      return;
    }
    case GroupEvent::member: {
      const GroupMember member = member_of(record);
      shares_[{host, member.share}].members.push_back(member);
      return;
    }
    case GroupEvent::prediction: {
      const GroupPrediction prediction = prediction_of(record);
      shares_[{host, prediction.share}].prediction = prediction;
      return;
    }
    case GroupEvent::share: end_share(host, share_of(record)); return;
  }
}

void GroupOperations::end_share(std::uint32_t host, const GroupShare& share) {
  HostShare ended;
  const auto found = shares_.find({host, share.share});
  if (found != shares_.end()) {
    ended = std::move(found->second);
    shares_.erase(found);
  }
  ended.host = host;
  ended.share = share;
  share_done_(ended);
  const Key key{share.text, share.operation};
  const auto [place, is_new] = open_.try_emplace(key);
  Open& open = place->second;
  if (is_new) {
    open.operation.text = share.text;
    open.operation.number = share.operation;
    open.operation.hosts = share.hosts;
    open.age = next_age_++;
    by_age_.emplace(open.age, key);
  }
  const std::size_t bytes = sizeof(HostShare) + ended.steps.capacity() * sizeof(GroupStep) +
                            ended.members.capacity() * sizeof(GroupMember);
  open.bytes += bytes;
  bytes_ += bytes;
  open.operation.has_failed = open.operation.has_failed || share.has_failed;
  open.operation.shares.push_back(std::move(ended));
  if (open.operation.is_complete()) hand_on(key);
  while (bytes_ > bytes_max_ && !by_age_.empty()) hand_on(by_age_.begin()->second);
}

void GroupOperations::hand_on(const Key& key) {
  auto open = open_.extract(key);
  bytes_ -= open.mapped().bytes;
  by_age_.erase(open.mapped().age);
  done_(open.mapped().operation);
}

void GroupOperations::finish() {
  while (!by_age_.empty()) hand_on(by_age_.begin()->second);
  for (const auto& [key, share] : shares_)
    unended_ += share.steps.size() + share.members.size() + (share.prediction ? 1 : 0);
  shares_.clear();
}

}  // namespace eventspace
