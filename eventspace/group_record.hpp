// SPDX-License-Identifier: Apache-2.0
// eventspace/group_record.hpp — records of group operations.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eventspace/record.hpp"

/// Groups are created during a run, so the structure of the trace does not name them. The records
/// of a group contain the group's name. A *share* is the part that one host has in one operation.
/// Each share has a number that is unique on its host; the numbers are in the order in which the
/// shares begin. One OS thread writes all records of a share: first the records of its members and
/// steps, last the record of the share itself.
namespace eventspace {

/// Values of EventRecord::kind for group records.
enum class GroupEvent : std::uint8_t {
  text = 21,        ///< seven bytes of a text that names an operation (GroupTexts)
  step = 22,        ///< message that was sent or received, a fold, or a copy
  member = 23,      ///< one thread's part of an operation: from its arrival to the share's end
  share = 24,       ///< one host's part of an operation, from its last member's arrival
  prediction = 29,  ///< predicted time of an operation; one of its hosts records it
};

/// Names that identify the operations of one kind. The names are the same on all hosts.
struct GroupOperation {
  std::string group;
  std::string collective;
  /// Schedule with its parameters; "" if the operation failed before a schedule was chosen.
  std::string algorithm = {};
  /// Word for how the schedule was chosen: named, pinned, tuned, borrowed, priced or assumed. "" if
  /// there was no choice, or if the trace has an older version.
  std::string reason = {};
  /// Number of the line in the table of tuning that names the schedule; "" if the schedule is not
  /// from the table.
  std::string row = {};
  friend auto operator<=>(const GroupOperation&, const GroupOperation&) = default;
};
std::string text_of(const GroupOperation& operation);
GroupOperation group_operation_of(std::string_view text);
/// Returns the name of the group that carries out the operations of the declared collective
/// `collective`. `label` is the name of the deployment; "" = the first deployment of the run.
std::string group_of_collective(std::string_view label, std::string_view collective);
/// Returns the declared collective whose operations the group `group` carries out; "" if the group
/// carries out no declared collective.
std::string_view collective_of_group(std::string_view group);
/// Returns a text that names the operation, such as "allreduce of world by tree (tuned)".
std::string words_of(const GroupOperation& operation);
/// Returns the number by which shares refer to `text`: 32 bits of its digest.
std::uint32_t text_number(std::string_view text);
/// Returns the number of a group operation's kind. Its low 32 bits are `text`, the number of the
/// operation's text. Bit 32 distinguishes it from the kinds of operations on paths.
constexpr std::uint64_t group_operation_kind(std::uint32_t text) {
  return std::uint64_t{1} << 32 | text;
}

enum class GroupAction : std::uint8_t { send, receive, fold, copy };
std::string_view name_of(GroupAction action);

struct GroupStep {
  std::uint32_t share = 0;   ///< number of the share to which the step belongs
  std::uint32_t number = 0;  ///< index of the step in its share
  GroupAction action = GroupAction::send;
  /// Number of a host in the plan, 24 bits. For a message, it is the host at the other end. For a
  /// fold or copy, it is the host that does it.
  std::uint32_t peer = 0;
  std::uint32_t channel = 0;  ///< channel (numbered sequence of messages to a host); 24 bits
  std::uint64_t bytes = 0;    ///< number of bytes, at most 2^32 - 1
  /// Send: time at which the message was passed to its link. Receive: time at which the message was
  /// requested. Fold or copy: time at which it began.
  std::int64_t begin_nanos = 0;
  /// Send: time at which the first link had accepted the message. Receive: time at which the
  /// message had arrived. Fold or copy: time at which it ended.
  std::int64_t end_nanos = 0;
};

struct GroupMember {
  std::uint32_t thread = 0;  ///< rank of the thread in the plan
  std::uint32_t text = 0;    ///< number of the text that names group, collective and algorithm
  std::uint32_t share = 0;
  std::uint64_t bytes = 0;  ///< size of the call's input or output, the larger of both; 48 bits
  std::int64_t begin_nanos = 0;
  std::int64_t end_nanos = 0;
};

struct GroupShare {
  std::uint32_t text = 0;
  std::uint32_t share = 0;
  std::uint32_t operation = 0;  ///< index among the operations of its group, from 0
  std::uint32_t hosts = 0;      ///< number of hosts that take part in the operation; 24 bits
  bool has_failed = false;
  std::int64_t begin_nanos = 0;
  std::int64_t end_nanos = 0;
};

/// Predicted time of one operation. The host with the share `share` recorded it.
struct GroupPrediction {
  std::uint32_t text = 0;
  std::uint32_t share = 0;
  std::uint64_t predicted_nanos = 0;  ///< computed from the costs of links and hosts; 56 bits
  /// Time that tuning measured for the schedule, divided by the time that was predicted for the
  /// schedule at the tuning; 0 = not tuned. Rounded to thousandths, and at most 16,777.
  double measured_per_predicted = 0;
  std::int64_t at_nanos = 0;  ///< time of the record
};

EventRecord record_of(const GroupStep& step);
EventRecord record_of(const GroupMember& member);
EventRecord record_of(const GroupShare& share);
EventRecord record_of(const GroupPrediction& prediction);
std::vector<EventRecord> records_of(std::string_view text, std::int64_t at_nanos);

bool is_of_group(const EventRecord& record);
inline bool is(const EventRecord& record, GroupEvent event) {
  return record.kind == static_cast<std::uint64_t>(event);
}
GroupStep step_of(const EventRecord& record);
GroupMember member_of(const EventRecord& record);
GroupShare share_of(const EventRecord& record);
GroupPrediction prediction_of(const EventRecord& record);

/// Texts that name operations. A text is recorded in pieces of seven bytes. This class assembles
/// the pieces. Each host records its pieces separately, and pieces may arrive in any order.
class GroupTexts {
 public:
  void add(const EventRecord& record);
  /// Returns the text, or nullptr while pieces are missing.
  const std::string* find(std::uint32_t number) const;

 private:
  struct Text {
    std::string bytes;
    std::vector<bool> has;
    std::size_t missing = 0;
  };
  std::map<std::uint32_t, Text> texts_;
};

}  // namespace eventspace
