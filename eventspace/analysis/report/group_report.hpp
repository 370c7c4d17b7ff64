// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/report/group_report.hpp — figures of operations of groups.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "eventspace/analysis/report/distribution.hpp"
#include "eventspace/analysis/report/fields.hpp"

namespace eventspace {

/// Causes of time on the critical path of a group operation, from the end of the last host back to
/// the arrival of a member.
enum class GroupCause : std::uint8_t {
  late_member,  ///< from the first arrival to the arrival at which the path begins
  /// Wait until the sender's link accepted the message, for example because the link still sent
  /// earlier messages.
  sending,
  /// Transit of a message, or of the request for a message. At most the transit time of the fastest
  /// message counts. If no record shows the send, it is the time from the request to the arrival of
  /// the message.
  latency,
  folding,  ///< execution of the folds and copies of a schedule
  within_hosts,
};
inline constexpr std::size_t group_causes = 5;
inline constexpr std::array<std::string_view, group_causes> group_cause_names = {
    "late member", "sending", "latency", "folding", "within hosts"};
constexpr std::string_view group_cause_name(GroupCause cause) {
  return name_in(group_cause_names, cause);
}

/// Figures of the operations of one collective in one group by one algorithm. If the hosts have no
/// common clock, the times between hosts are unknown and therefore empty.
///
/// Units: Nanoseconds.
struct GroupReport {
  struct Part {
    GroupCause cause = GroupCause::late_member;
    std::string what;
    std::int64_t nanos = 0;
    std::uint64_t operations = 0;
  };
  struct Last {
    std::string name;
    std::uint64_t operations = 0;
    std::int64_t late_nanos = 0;
  };
  struct Span {
    std::int64_t begin_nanos = 0;
    std::int64_t end_nanos = 0;
  };
  static constexpr double stale_change = 0.25;
  static constexpr std::uint64_t stale_operations_least = 3;

  std::string group, collective, algorithm, reason, row;
  std::uint64_t operations = 0;
  std::uint64_t incomplete = 0;
  std::uint64_t failed = 0;
  Summary bytes;
  Summary time;
  Summary after_last;
  Summary wait;
  std::optional<Span> first;
  std::array<std::int64_t, group_causes> by_cause = {};
  std::vector<Part> parts;
  std::vector<Last> last_threads, last_hosts;
  Summary predicted;           ///< predicted times of single operations
  std::uint64_t compared = 0;  ///< operations that were compared with their predictions
  double per_predicted = 0;    ///< median of time after the last arrival / predicted time
  double per_tuned = 0;        ///< median of time after last arrival / tuned time; 0 = not tuned

  /// Whether the operations take more or less time than tuning measured for their schedule. If so,
  /// the network, the hosts or their load have changed after the tuning.
  bool is_stale() const {
    return compared >= stale_operations_least && per_tuned > 0 &&
           std::abs(per_tuned - 1) > stale_change;
  }
};

template <class Visitor>
void describe(Visitor& visit, const GroupReport::Part& part) {
  visit.object("group_part", "Part of the time of operations that one thing caused.");
  visit.field("cause", Word{group_cause_name(part.cause), group_cause_names}, units::none,
              "The cause.");
  visit.field("what", part.what, units::none, "Thread, link or host.");
  visit.field("nanos", part.nanos, units::nanos, "Time in total.");
  visit.field("operations", part.operations, units::count, "Operations in which it had a part.");
}

template <class Visitor>
void describe(Visitor& visit, const GroupReport::Last& last) {
  visit.object("group_last", "Thread or host that arrived last, alone.");
  visit.field("name", last.name, units::none, "Thread or host.");
  visit.field("operations", last.operations, units::count, "Operations at which it arrived last.");
  visit.field("late_nanos", last.late_nanos, units::nanos,
              "Time behind the last but one thread, or behind the other hosts, in total.");
}

template <class Visitor>
void describe(Visitor& visit, const GroupReport& report) {
  visit.object("group_operations", "Operations of one kind, of one group, by one schedule.");
  visit.field("group", report.group, units::none, "Name of the group.");
  visit.field("collective", report.collective, units::none, "Kind of operation.");
  visit.field("algorithm", report.algorithm, units::none, "Schedule with its parameters.");
  visit.field(
      "reason", report.reason, units::none,
      "How the schedule was chosen: named, pinned, tuned, borrowed, priced or assumed. Empty "
      "if there was no choice.");
  visit.field("row", report.row, units::none,
              "Line of the row of the table of decisions that names the schedule. Empty if no row "
              "does.");
  visit.field("operations", report.operations, units::count, "Complete operations.");
  visit.field("incomplete", report.incomplete, units::count,
              "Operations without the records of a host.");
  visit.field("failed", report.failed, units::count, "Operations that failed.");
  visit.field("bytes", report.bytes, units::bytes, "Size of the largest array.");
  visit.field("time_nanos", report.time, units::nanos,
              "Time from the arrival of the first member. Without a common clock, on the host that "
              "took longest.");
  visit.field("after_last_came_nanos", report.after_last, units::nanos,
              "Time from the arrival of the last member. Known only with a common clock.");
  visit.field("wait_for_last_nanos", report.wait, units::nanos,
              "Wait of each member for the last one. Without a common clock, for the last one on "
              "its host.");
  visit.field("nanos_by_cause", ByWord<std::int64_t>{group_cause_names, report.by_cause},
              units::nanos, "Time by cause. Known only with a common clock.");
  visit.field("parts", report.parts, units::none, "Parts of the time, the greatest first.");
  visit.field("last_threads", report.last_threads, units::none, "Threads that arrived last.");
  visit.field("last_hosts", report.last_hosts, units::none, "Hosts that arrived last.");
  visit.field("predicted_nanos", report.predicted, units::nanos,
              "Predicted time of the operations. Its count is 0 if nothing was predicted.");
  visit.field("compared", report.compared, units::count,
              "Operations whose members arrived within a tenth of the predicted time. Only they "
              "are compared with it, and only with a common clock.");
  visit.field("took_per_predicted", report.per_predicted, units::ratio,
              "Time from the arrival of the last member, as a multiple of the predicted time: "
              "median of the compared operations.",
              left_out_if("compared", report.compared));
  visit.field("took_per_tuned", report.per_tuned, units::ratio,
              "The same as a multiple of the time that tuning measured. 0 if a table does not tell "
              "it.",
              left_out_if("compared", report.compared));
  visit.field("stale", report.is_stale(), units::none,
              "True if `took_per_tuned` is below 0.75 or above 1.25, for at least 3 operations.");
  const GroupReport::Span first = report.first.value_or(GroupReport::Span{});
  visit.field(
      "first_begin_end_nanos", std::tuple(first.begin_nanos, first.end_nanos), units::nanos,
      "First operation: arrival of the first member and end of the last host, from the begin "
      "of the run.",
      left_out(!report.first, "without a common clock"));
}

/// Times that a thread spends between successive operations of one group. They exclude the time in
/// operations of other groups.
struct GroupMemberReport {
  std::string name, group, host, cluster;
  Summary computation;
  std::uint64_t last = 0;
  std::int64_t late_nanos = 0;
  std::vector<Blocks::Row> blocks;  ///< consecutive times between operations
};

template <class Visitor>
void describe(Visitor& visit, const GroupMemberReport& member) {
  visit.object("group_member", "Thread between operations of a group.");
  visit.field("name", member.name, units::none, "Name of the thread.");
  visit.field("group", member.group, units::none, "Name of the group.");
  visit.field("host", member.host, units::none, "Host of the thread.");
  visit.field("cluster", member.cluster, units::none, "Cluster of that host.");
  visit.field("between_operations_nanos", member.computation, units::nanos,
              "Time between operations of the group, without operations of other groups.");
  visit.field("last", member.last, units::count, "Operations at which it arrived last, alone.");
  visit.field("late_nanos", member.late_nanos, units::nanos,
              "Time behind the last but one thread, in total.");
}

/// Figures of the messages that groups send between two clusters, within one cluster, or between
/// two hosts.
struct GroupLinkReport {
  std::string from, to;
  bool is_wan = false;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  bool is_between_clusters = false;
  Summary latency;
  std::int64_t nanos_per_mebibyte = 0;
  std::vector<Blocks::Row> blocks;  ///< latencies of consecutive messages
};

template <class Visitor>
void describe(Visitor& visit, const GroupLinkReport& link) {
  visit.object("group_link", "Messages of groups between two clusters or hosts.");
  visit.field("from", link.from, units::none, "Cluster or host that sends.");
  visit.field("to", link.to, units::none, "Cluster or host that receives.");
  visit.field("wan", link.is_wan, units::none, "True between two clusters.");
  visit.field("messages", link.messages, units::count, "Messages.");
  visit.field("bytes", link.bytes, units::bytes, "Bytes of all messages.");
  const Presence clusters = left_out(!link.is_between_clusters, "between hosts");
  visit.field(
      "latency_nanos", link.latency, units::nanos,
      "Time from when the sender's link took a message until it arrived. Only messages that "
      "were asked for by then. Known only with a common clock.",
      clusters);
  visit.field("nanos_per_mebibyte_of_quickest", link.nanos_per_mebibyte, units::nanos,
              "Time for a mebibyte, by the quickest message of at least a kibibyte; 0 = unknown.",
              clusters);
}

struct GroupsReport {
  bool has_common_clock = false;
  std::uint64_t records = 0;
  /// Records that refer to nothing in the plan, or contradict other records.
  std::uint64_t unknown = 0;
  std::vector<GroupReport> operations;
  std::vector<GroupMemberReport> members;
  std::vector<GroupLinkReport> clusters;
  std::vector<GroupLinkReport> hosts;
  std::uint64_t other_messages = 0;
};

template <class Visitor>
void describe(Visitor& visit, const GroupsReport& groups) {
  visit.object("groups", "Operations of groups.");
  visit.field("common_clock", groups.has_common_clock, units::none,
              "True if all hosts share one clock.");
  visit.field("records", groups.records, units::count, "Records of groups.");
  visit.field("operations", groups.operations, units::none, "Operations, by kind.");
  visit.field("members", groups.members, units::none, "Threads, once for each of their groups.");
  visit.field("between_clusters", groups.clusters, units::none,
              "Messages from cluster to cluster.");
  visit.field("between_hosts", groups.hosts, units::none, "Messages from host to host.");
  visit.field("messages_between_other_hosts", groups.other_messages, units::count,
              "Messages between hosts that are not listed, because there are too many pairs.");
}

}  // namespace eventspace
