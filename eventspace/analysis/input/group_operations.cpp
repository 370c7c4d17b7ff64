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
      return add_to_share({host, step.share}, sizeof step,
                          [&](HostShare& share) { share.steps.push_back(step); });
    }
    case GroupEvent::member: {
      const GroupMember member = member_of(record);
      return add_to_share({host, member.share}, sizeof member,
                          [&](HostShare& share) { share.members.push_back(member); });
    }
    case GroupEvent::prediction: {
      const GroupPrediction prediction = prediction_of(record);
      return add_to_share({host, prediction.share}, 0,
                          [&](HostShare& share) { share.prediction = prediction; });
    }
    case GroupEvent::share: end_share(host, share_of(record)); return;
  }
}

/// Adds a record to a share with the function `add`. `bytes` is the memory that the record needs.
template <class Add>
void GroupOperations::add_to_share(const Key& key, std::size_t bytes, const Add& add) {
  const auto [place, is_new] = shares_.try_emplace(key);
  OpenShare& open = place->second;
  if (is_new) {
    open.age = next_age_++;
    shares_by_age_.emplace(open.age, key);
    bytes += sizeof open;
  }
  add(open.share);
  open.bytes += bytes;
  bytes_of_shares_ += bytes;
  while (bytes_of_shares_ > bytes_max_) count_unended(take_share(shares_by_age_.begin()->second));
}

HostShare GroupOperations::take_share(const Key& key) {
  auto open = shares_.extract(key);
  if (open.empty()) return {};
  bytes_of_shares_ -= open.mapped().bytes;
  shares_by_age_.erase(open.mapped().age);
  return std::move(open.mapped().share);
}

void GroupOperations::count_unended(const HostShare& share) {
  unended_ += share.steps.size() + share.members.size() + (share.prediction ? 1 : 0);
}

void GroupOperations::end_share(std::uint32_t host, const GroupShare& share) {
  HostShare ended = take_share({host, share.share});
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
  while (!shares_by_age_.empty()) count_unended(take_share(shares_by_age_.begin()->second));
}

}  // namespace eventspace
