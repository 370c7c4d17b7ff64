// SPDX-License-Identifier: Apache-2.0
// paths/messages/group_table.hpp — the groups of one host: those that it is in, and those it left.
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

/// Groups by their id. Compares what hosts took part in when they left.
///
/// Sharing: guarded by the mutex of the endpoint.
class GroupTable {
 public:
  /// A group that this host has left.
  struct Ended {
    std::string name;
    Participation part;
  };

  /// It outlives the table.
  explicit GroupTable(const EndpointState& state) : state_(state) {}
  /// Makes a group. The n-th use of a name by each host belongs together. Throws UsageError while
  /// the host is in a group of that name.
  GroupState& add(std::string_view name, SharedHosts hosts, GroupOptions options);
  /// Returns nullptr if the host is not in it.
  GroupState* find(std::uint64_t id);
  const GroupState* find(std::uint64_t id) const;
  /// The same. Throws UsageError in place of nullptr.
  GroupState& joined(std::uint64_t id);
  /// Returns nullptr if the host has not left such a group.
  const Ended* ended(std::uint64_t id) const;
  /// Leaves a group, of which the table keeps what the host took part in.
  void end(GroupState& group, const Participation& part);
  const std::unordered_map<std::uint64_t, std::unique_ptr<GroupState>>& all() const {
    return groups_;
  }
  /// Whether the host was ever in a group.
  bool is_used() const { return !uses_.empty(); }

  /// Compares what a peer took part in with what this host did. Returns whether they differ, for
  /// the first difference of a run only.
  bool compare(const Ended& ended, std::uint32_t peer, const Participation& part);
  /// Notes that a channel that ended well here was something else to another host.
  void note_mismatch(const Ended& ended, std::uint64_t channel, const std::string& why);
  /// Returns the text about the first difference; "" if there is none.
  const std::string& difference() const { return difference_; }

 private:
  const EndpointState& state_;
  std::unordered_map<std::uint64_t, std::unique_ptr<GroupState>> groups_;
  std::map<std::uint64_t, Ended> ended_;
  std::map<std::string, std::uint64_t, std::less<>> uses_;  // how often a name was used
  std::string difference_;
};

}  // namespace paths
