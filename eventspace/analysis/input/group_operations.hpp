// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/input/group_operations.hpp — assembly of group operations from records.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "eventspace/group_record.hpp"

namespace eventspace {

/// A host's part of a group operation (group_record.hpp): the members and steps that the host
/// recorded for the operation.
struct HostShare {
  std::uint32_t host = 0;
  GroupShare share;
  std::vector<GroupMember> members;
  std::vector<GroupStep> steps;  ///< in the order of the steps' ends
  /// Prediction for the whole operation. Only one share of the operation has it.
  std::optional<GroupPrediction> prediction = {};

  /// Returns the time from the arrival of the first member on this host to the end of the share.
  std::int64_t duration_nanos() const;
};

struct WholeOperation {
  std::uint32_t text = 0;    ///< number of the text that names group, collective and algorithm
  std::uint32_t number = 0;  ///< index among the operations of its group, from 0
  std::uint32_t hosts = 0;
  bool has_failed = false;
  std::vector<HostShare> shares;  ///< in the order in which the records of the shares arrived
  bool is_complete() const { return shares.size() == hosts; }
  /// Returns the longest duration of a share.
  std::int64_t longest_nanos() const;
  /// Returns the size of the largest array that any member has in the operation.
  std::uint64_t bytes_max() const;
};

/// Assembles group operations from their hosts' parts. The parts may arrive in any order.
///
/// Each operation is passed to `done` when it is complete or dropped. If the incomplete operations
/// need more than `bytes_max`, the oldest of them are dropped. At the end of the trace, all
/// incomplete operations are dropped. If a share arrives after its operation was dropped, the
/// operation is passed to `done` again.
///
/// A share without its own record has not ended, or the trace has lost the record. If these shares
/// need more than `bytes_max`, the records of the oldest of them are dropped, and unended() counts
/// them.
class GroupOperations {
 public:
  using ShareDone = std::function<void(const HostShare&)>;
  using Done = std::function<void(WholeOperation&)>;
  GroupOperations(std::size_t bytes_max, ShareDone share_done, Done done)
      : bytes_max_(bytes_max), share_done_(std::move(share_done)), done_(std::move(done)) {}

  void add(std::uint32_t host, const EventRecord& record);
  void finish();
  const GroupTexts& texts() const { return texts_; }
  /// Returns the number of records that belong to a share whose last record is missing.
  std::uint64_t unended() const { return unended_; }

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return (std::size_t{key.first} << 32 | key.second) * 0x9e3779b97f4a7c15 >> 8;
    }
  };
  struct Open {
    WholeOperation operation;
    std::uint64_t age = 0;
    std::size_t bytes = 0;
  };
  /// Records of a share whose own record has not arrived yet.
  struct OpenShare {
    HostShare share;
    std::uint64_t age = 0;
    std::size_t bytes = 0;
  };
  template <class Add>
  void add_to_share(const Key& key, std::size_t bytes, const Add& add);
  /// Removes and returns the share; an empty share if no record of it has arrived.
  HostShare take_share(const Key& key);
  void count_unended(const HostShare& share);
  void end_share(std::uint32_t host, const GroupShare& share);
  void hand_on(const Key& key);

  const std::size_t bytes_max_;
  const ShareDone share_done_;
  const Done done_;
  GroupTexts texts_;
  // Shares whose own record has not arrived yet, keyed by host and number of the share.
  std::unordered_map<Key, OpenShare, Hash> shares_;
  std::map<std::uint64_t, Key> shares_by_age_;
  std::size_t bytes_of_shares_ = 0;
  // Incomplete operations, keyed by WholeOperation::text and WholeOperation::number.
  std::unordered_map<Key, Open, Hash> open_;
  std::map<std::uint64_t, Key> by_age_;
  std::uint64_t next_age_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t unended_ = 0;
};

}  // namespace eventspace
