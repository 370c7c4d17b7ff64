// SPDX-License-Identifier: Apache-2.0
// paths/messages/group_table.cpp — making and ending of groups, and comparison of operations
#include "paths/messages/group_table.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/digest.hpp"
#include "base/usage_error.hpp"

namespace paths {

GroupState& GroupTable::add(std::string_view name, SharedHosts hosts, GroupOptions options) {
  for (const auto& [id, other] : groups_)
    if (other->name == name)
      throw base::UsageError(fmt::format("group {}: this host is in one of that name", name));
  auto made = std::make_unique<GroupState>();
  GroupState& group = *made;
  group.id = base::digest_of(fmt::format("{}\n{}", uses_[std::string(name)]++, name)).low;
  group.name = name;
  group.hosts = std::move(hosts);
  group.options = std::move(options);
  groups_[group.id] = std::move(made);
  return group;
}

GroupState* GroupTable::find(std::uint64_t id) {
  const auto found = groups_.find(id);
  if (found == groups_.end()) return nullptr;
  found->second->close_ended();
  return found->second.get();
}

GroupState& GroupTable::joined(std::uint64_t id) {
  GroupState* const group = find(id);
  if (group == nullptr) throw base::UsageError("a group that this host has left");
  return *group;
}

const GroupTable::Ended* GroupTable::ended(std::uint64_t id) const {
  const auto found = ended_.find(id);
  return found == ended_.end() ? nullptr : &found->second;
}

void GroupTable::end(GroupState& group, const Participation& part) {
  const std::uint64_t id = group.id;
  Ended& ended = ended_[id] = {group.name, part};
  for (const auto& [peer, lane] : group.out)
    if (lane.messages_sent > 0) ended.messages_sent[peer] = lane.messages_sent;
  for (const auto& [peer, its] : group.parts) compare(ended, peer, its);
  for (const auto& [channel, failed] : group.failed)
    if (failed.is_mismatch) note_mismatch(ended, channel, failed.why);
  groups_.erase(id);
}

bool GroupTable::compare(const Ended& ended, std::uint32_t peer, const Participation& part) {
  const Participation& mine = ended.part;
  if (mine.signature_digest == 0 || part.signature_digest == 0) return false;
  if (mine.channels == part.channels && mine.signature_digest == part.signature_digest)
    return false;
  if (!difference_.empty()) return false;
  difference_ =
      fmt::format("group {}: hosts did not take part in the same: host {} left it {}, host {} {}",
                  ended.name, state_.name, mine.text, state_.name_of(peer), part.text);
  return true;
}

void GroupTable::note_mismatch(const Ended& ended, std::uint64_t channel, const std::string& why) {
  const bool has_taken_part = ended.part.signature_digest != 0 && channel < ended.part.channels;
  if (has_taken_part && difference_.empty())
    difference_ = fmt::format("group {}: {}", ended.name, why);
}

}  // namespace paths
