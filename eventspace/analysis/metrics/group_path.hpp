// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/group_path.hpp — which way of messages an operation of a group
// waited for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "eventspace/analysis/input/group_operations.hpp"
#include "eventspace/analysis/report/group_report.hpp"

namespace eventspace {

/// Which message that a host received is which that another sent: the k-th of a channel.
class GroupMessages {
 public:
  struct Place {
    std::uint32_t share = 0;
    std::uint32_t step = 0;
  };
  /// The operation outlives it.
  explicit GroupMessages(const WholeOperation& operation);
  /// Of a message the step at its other end.
  std::optional<Place> other_end_of(Place message) const;
  const GroupStep& step(Place place) const {
    return operation_.shares[place.share].steps[place.step];
  }
  const WholeOperation& operation() const { return operation_; }

 private:
  const WholeOperation& operation_;
  std::vector<std::vector<Place>> other_ends_;  // by share and step; without one its own place
};

/// A part of that way.
struct GroupSegment {
  GroupCause cause = GroupCause::within_hosts;
  std::uint32_t from = 0;  ///< a host; of a late member its thread's rank
  std::uint32_t to = 0;    ///< of messages the other host
  std::int64_t nanos = 0;
};

/// From the end of the host that ended last back to the coming of a member, the segments end to
/// end: their sum is the operation's time from its first member's coming. All hosts' times are of
/// one clock; as far as they are not, segments of negative length are left out.
///
/// What ends last on a host before something began there is taken for what that waited for. A
/// message that had come when it was asked for waited for that. Any other waited for its sender,
/// whose link took it when it was handed over, when the message before it was through, or when its
/// receiver's asking had come: the last of these. A send that is waited for itself likewise. What
/// the fastest message took between two hosts is latency; what others took beyond it is sending, on
/// links behind the first.
std::vector<GroupSegment> group_path(const GroupMessages& messages);

}  // namespace eventspace
