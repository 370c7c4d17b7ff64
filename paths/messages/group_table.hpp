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

/// Table of the groups of a host, keyed by id. When hosts leave a group, the table compares the
/// operations in which this host and its peers took part.
///
/// Thread-safe: guarded by the mutex of the endpoint.
class GroupTable {
 public:
  /// A group that this host has left.
  struct Ended {
    std::string name;
    Participation part;
    /// Number of messages that this host has sent in the group, keyed by peer.
    std::map<std::uint32_t, std::uint64_t> messages_sent = {};
  };

  /// Requires: `state` outlives this object.
  explicit GroupTable(const EndpointState& state) : state_(state) {}
  /// Makes a group. If hosts use a name several times, the n-th uses on all hosts belong to the
  /// same group.
  /// Throws: UsageError if this host is already in a group with that name.
  GroupState& add(std::string_view name, SharedHosts hosts, GroupOptions options);
  /// Closes the channels of the group that have ended, and returns the group; nullptr if this host
  /// is not in the group.
  GroupState* find(std::uint64_t id);
  /// Returns the group.
  /// Throws: UsageError if this host is not in the group.
  GroupState& joined(std::uint64_t id);
  /// Returns the record of a group that this host has left; nullptr if there is none.
  const Ended* ended(std::uint64_t id) const;
  /// Removes a group. The table keeps the operations in which this host took part.
  void end(GroupState& group, const Participation& part);
  const std::unordered_map<std::uint64_t, std::unique_ptr<GroupState>>& all() const {
    return groups_;
  }

  /// Compares the operations of a peer with the operations of this host. Returns true if they
  /// differ and no difference was found before.
  bool compare(const Ended& ended, std::uint32_t peer, const Participation& part);
  /// Notes that hosts used `channel` for different purposes. If this host took part in the
  /// operation of the channel, and no difference is stored yet, stores `why` as the difference.
  void note_mismatch(const Ended& ended, std::uint64_t channel, const std::string& why);
  /// Returns a text about the first difference between the operations of hosts; "" if no difference
  /// was found.
  const std::string& difference() const { return difference_; }

 private:
  const EndpointState& state_;
  std::unordered_map<std::uint64_t, std::unique_ptr<GroupState>> groups_;
  std::map<std::uint64_t, Ended> ended_;
  std::map<std::string, std::uint64_t, std::less<>> uses_;  // number of uses of each name
  std::string difference_;
};

}  // namespace paths
