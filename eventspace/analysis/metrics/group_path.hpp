// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/group_path.hpp — critical path through the messages of a group's
// operation.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "eventspace/analysis/input/group_operations.hpp"
#include "eventspace/analysis/report/group_report.hpp"
#include "eventspace/structure.hpp"

namespace eventspace {

/// Finds the steps at both ends of each message. The k-th message sent on a channel is the k-th
/// message received on it.
class GroupMessages {
 public:
  struct Place {
    std::uint32_t share = 0;
    std::uint32_t step = 0;
  };
  /// Requires: `operation` outlives the object. The structure has all hosts of the operation.
  GroupMessages(const WholeOperation& operation, const Structure& structure);
  /// Returns the place of the step at the other end of a message; nullopt if the trace does not
  /// have that step.
  std::optional<Place> other_end_of(Place message) const;
  /// Returns the message that left the same host before the sent message `sent`, over the same
  /// link; nullopt if there is none. Messages to the same cluster count as messages over the same
  /// link: that of the host into its network, or that of an exit to the other cluster. The records
  /// do not name the link, so no other messages count.
  std::optional<Place> sent_before(Place sent) const;
  const GroupStep& step(Place place) const {
    return operation_.shares[place.share].steps[place.step];
  }
  const WholeOperation& operation() const { return operation_; }

 private:
  void find_other_ends();
  void find_sent_before(const Structure& structure);

  const WholeOperation& operation_;
  // Place of the step at the other end of the message that a step sends or receives; the place of
  // the step itself if the other end is unknown. Indexed by share (a host's part of the operation),
  // then by step.
  std::vector<std::vector<Place>> other_ends_;
  // Step of the result of sent_before(); the step itself if there is none. Indexed in the same way.
  std::vector<std::vector<std::uint32_t>> sent_before_;
};

/// A part of the critical path of an operation.
struct GroupSegment {
  GroupCause cause = GroupCause::within_hosts;
  std::uint32_t from = 0;  ///< sending host or only host; for a late member, its thread's rank
  std::uint32_t to = 0;    ///< receiving host, or only host
  std::int64_t nanos = 0;
};

/// Returns the critical path of an operation. The path leads from the end of the host that ended
/// last back to the arrival of a member. The segments adjoin, so their sum is the time of the
/// operation from the arrival of its first member.
///
/// On each host, a step waits for the latest earlier step: the last step to end before the waiting
/// step began.
/// - A message that arrived before its receiver requested it costs nothing. The path continues at
///   the step before the request.
/// - For any other message, the receiver waited for the sender. The message could leave when three
///   things had happened: it had been passed to its link, the message before it had left, and the
///   request of the receiver had arrived. The path continues at the last of these three events.
///   GroupMessages::sent_before() returns the message before it.
/// - The time of the fastest message between two hosts counts as their latency. If a message took
///   longer, the rest of its time counts as sending, because the message spent it on further links.
///
/// Requires: the times of all hosts are on one clock. If they are not, some segments may have a
///           length below 0. Such segments are left out.
std::vector<GroupSegment> group_path(const GroupMessages& messages);

}  // namespace eventspace
