// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/metrics/group_path.hpp — critical path of a group operation's messages.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "eventspace/analysis/input/group_operations.hpp"
#include "eventspace/analysis/report/group_report.hpp"

namespace eventspace {

/// Pairs the two ends of each message: the k-th sent on a channel is the k-th received.
class GroupMessages {
 public:
  struct Place {
    std::uint32_t share = 0;
    std::uint32_t step = 0;
  };
  /// Requires: `operation` outlives the object.
  explicit GroupMessages(const WholeOperation& operation);
  /// Returns the step at the other end of a message, if the trace has it.
  std::optional<Place> other_end_of(Place message) const;
  const GroupStep& step(Place place) const {
    return operation_.shares[place.share].steps[place.step];
  }
  const WholeOperation& operation() const { return operation_; }

 private:
  const WholeOperation& operation_;
  // Indexed by share (a host's part of the operation) and step. A step whose other end is unknown
  // has its own place.
  std::vector<std::vector<Place>> other_ends_;
};

/// Part of the critical path.
struct GroupSegment {
  GroupCause cause = GroupCause::within_hosts;
  std::uint32_t from = 0;  ///< host; for a late member, the rank of its thread
  std::uint32_t to = 0;    ///< other host of a message
  std::int64_t nanos = 0;
};

/// Returns the critical path, from the end of the host that ended last back to the arrival of a
/// member. The segments adjoin, so their sum is the operation's time since its first member's
/// arrival.
///
/// On each host, a step waits for the latest step that ended before it began.
/// - A message that arrived before its receiver requested it costs nothing. The path continues at
///   the step before the request.
/// - Any other received message waited for its sender. The sender's link accepted the message when
///   three conditions held. The message was passed to the link, the previous message had left, and
///   the receiver's request had arrived.
/// - A send on the path is followed in the same manner.
/// - Latency is the time of the fastest message between two hosts. Any further time counts as
///   sending, on links after the first.
///
/// Requires: Times of all hosts on one clock. If clocks differ, segments of negative length are
///           left out.
std::vector<GroupSegment> group_path(const GroupMessages& messages);

}  // namespace eventspace
