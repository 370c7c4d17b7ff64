// SPDX-License-Identifier: Apache-2.0
// paths/messages/group_table.hpp — current and former groups of one host
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "paths/messages/endpoint_state.hpp"
#include "paths/messages/group_state.hpp"

namespace paths {

/// The groups of a host by id. Also compares the parts that hosts took when they left a group.
///
/// Thread-safe: guarded by the mutex of the endpoint.
class GroupTable {
 public:
  /// A group that this host has left.
  struct Ended {
    std::string name;
    Participation part;
  };

  /// Requires: `state` outlives this object.
  explicit GroupTable(const EndpointState& state) : state_(state) {}
  /// Makes a group. The n-th use of a name on each host belongs together. Throws UsageError if this
  /// host is in a group of that name.
  GroupState& add(std::string_view name, SharedHosts hosts, GroupOptions options);
  /// Returns nullptr if the host is not in it.
  GroupState* find(std::uint64_t id);
  const GroupState* find(std::uint64_t id) const;
  /// Like find(), but throws UsageError if the host is not in it.
  GroupState& joined(std::uint64_t id);
  /// Returns nullptr if the host has not left such a group.
  const Ended* ended(std::uint64_t id) const;
  /// Removes a group. The table keeps the part that this host took.
  void end(GroupState& group, const Participation& part);
  const std::unordered_map<std::uint64_t, std::unique_ptr<GroupState>>& all() const {
    return groups_;
  }
  /// Whether the host was ever in a group.
  bool is_used() const { return !uses_.empty(); }

  /// Compares a peer's part with this host's. Returns whether they differ; false after the first
  /// difference of a run.
  bool compare(const Ended& ended, std::uint32_t peer, const Participation& part);
  /// Notes that another host used a channel for something else that ended well here.
  void note_mismatch(const Ended& ended, std::uint64_t channel, const std::string& why);
  /// Returns a text about the first difference; "" if there is none.
  const std::string& difference() const { return difference_; }

 private:
  const EndpointState& state_;
  std::unordered_map<std::uint64_t, std::unique_ptr<GroupState>> groups_;
  std::map<std::uint64_t, Ended> ended_;
  std::map<std::string, std::uint64_t, std::less<>> uses_;  // number of uses of each name
  std::string difference_;
};

}  // namespace paths
