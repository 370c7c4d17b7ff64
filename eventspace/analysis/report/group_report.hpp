// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/group_report.hpp — what an analysis found of operations of groups.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eventspace/analysis/report/distribution.hpp"

namespace eventspace {

/// Of what the way to the end of an operation consisted, followed from the host that ended last
/// back to a member that came.
enum class GroupCause : std::uint8_t {
  late_member,  ///< from the first member's coming until that one's on whom the way begins
  sending,      ///< until the sender's link had taken a message, with those before it on the link
  latency,      ///< from then, or from when it was asked for, until it had come
  folding,      ///< folds and copies of schedules
  within_hosts,
};
inline constexpr std::size_t group_causes = 5;
std::string_view group_cause_name(GroupCause cause);

/// Operations of one kind, of one group, by one algorithm. Times are nanoseconds. Those of several
/// hosts are known only on a common clock; what is not known is empty.
struct GroupReport {
  struct Part {
    GroupCause cause = GroupCause::late_member;
    std::string what;  ///< thread, link or host
    std::int64_t nanos = 0;
    std::uint64_t operations = 0;
  };
  /// Who came last, alone.
  struct Last {
    std::string name;  ///< a thread, or a host
    std::uint64_t operations = 0;
    std::int64_t late_nanos = 0;  ///< behind the next to last thread, or other hosts: in all
  };
  std::string group, collective, algorithm;
  std::uint64_t operations = 0;
  std::uint64_t incomplete = 0;  ///< that lack records of a host
  std::uint64_t failed = 0;
  Summary bytes;       ///< of the largest array
  Summary time;        ///< from the first member's coming; or on the host that took longest
  Summary after_last;  ///< from the last member's coming
  Summary wait;        ///< of each member, for the last one; or for the last one on its host
  /// Of the first one, from the run's begin on; only on a common clock.
  struct Span {
    std::int64_t begin_nanos = 0;
    std::int64_t end_nanos = 0;
  };
  std::optional<Span> first;
  std::array<std::int64_t, group_causes> by_cause = {};
  std::vector<Part> parts;  ///< the greatest first
  std::vector<Last> last_threads, last_hosts;
};

/// A thread in a group: what it did between one operation there and the next, which is no other
/// operation of a group.
struct GroupMemberReport {
  std::string name, group, host, cluster;
  Summary computation;
  std::uint64_t last = 0;       ///< operations to which it came last, alone
  std::int64_t late_nanos = 0;  ///< behind the next to last thread
};

/// Messages of groups from one cluster to another, or within one, or from host to host.
struct GroupLinkReport {
  std::string from, to;
  bool is_wan = false;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  /// From when the sender's link had taken it; of those that were asked for by then, on a common
  /// clock. Of clusters only.
  Summary latency;
  /// What a mebibyte takes, by the quickest message, of a kibibyte at least; 0: not known. Of
  /// clusters only.
  std::int64_t nanos_per_mebibyte = 0;
};

struct GroupsReport {
  bool has_common_clock = false;
  std::uint64_t records = 0;
  std::uint64_t unknown = 0;  ///< of no place in the plan, or that contradict others
  std::vector<GroupReport> operations;
  std::vector<GroupMemberReport> members;
  std::vector<GroupLinkReport> clusters;
  std::vector<GroupLinkReport> hosts;
  std::uint64_t other_messages = 0;  ///< of pairs of hosts that are not kept: there were too many
};

}  // namespace eventspace
