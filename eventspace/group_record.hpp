// SPDX-License-Identifier: Apache-2.0
// eventspace/group_record.hpp — what happened in an operation of a group, as records of a trace.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eventspace/record.hpp"

/// Groups are made while a run goes on, so no structure names them: their records do. A host's
/// share of an operation has a number of its own there, in the order in which shares begin; what is
/// done for it is recorded first, and that it has ended last, by the same OS thread.
namespace eventspace {

/// EventKinds of groups.
enum class GroupEvent : std::uint8_t {
  text = 21,    ///< seven bytes of a name that shares refer to
  step = 22,    ///< a message that was sent or received, a fold, or a copy
  member = 23,  ///< a thread, from when it came until the host's share of the operation had ended
  share = 24,   ///< a host's part of an operation, from when its last member came
};

/// What an operation is. The names say it of every host alike.
struct GroupOperation {
  std::string group;
  std::string collective;
  std::string algorithm;  ///< with its parameters; "" of one that failed before it had one
  friend auto operator<=>(const GroupOperation&, const GroupOperation&) = default;
};
std::string text_of(const GroupOperation& operation);
GroupOperation group_operation_of(std::string_view text);
/// For people: "allreduce of world by tree".
std::string words_of(const GroupOperation& operation);
/// By which shares refer to it: 32 bits of its digest.
std::uint32_t text_number(std::string_view text);

enum class GroupAction : std::uint8_t { send, receive, fold, copy };
std::string_view name_of(GroupAction action);

struct GroupStep {
  std::uint32_t share = 0;   ///< on its host
  std::uint32_t number = 0;  ///< among the host's steps of the operation
  GroupAction action = GroupAction::send;
  std::uint32_t peer = 0;     ///< the other host in the plan; of folds and copies its own. 24 bits
  std::uint32_t channel = 0;  ///< of a message, from one host to another; 24 bits
  std::uint64_t bytes = 0;    ///< at most 2^32 - 1
  std::int64_t begin_nanos = 0;  ///< a message was handed over, or asked for
  std::int64_t end_nanos = 0;    ///< the first link has taken it, or it had come
};

struct GroupMember {
  std::uint32_t thread = 0;  ///< its rank in the plan
  std::uint32_t text = 0;    ///< as of the share
  std::uint32_t share = 0;
  std::uint64_t bytes = 0;  ///< of its `in` or `out`, whichever is larger; 48 bits
  std::int64_t begin_nanos = 0;
  std::int64_t end_nanos = 0;
};

struct GroupShare {
  std::uint32_t text = 0;
  std::uint32_t share = 0;
  std::uint32_t operation = 0;  ///< its number in the group
  std::uint32_t hosts = 0;      ///< that have a share; 24 bits
  bool has_failed = false;
  std::int64_t begin_nanos = 0;
  std::int64_t end_nanos = 0;
};

EventRecord record_of(const GroupStep& step);
EventRecord record_of(const GroupMember& member);
EventRecord record_of(const GroupShare& share);
std::vector<EventRecord> records_of(std::string_view text, std::int64_t at_nanos);

bool is_of_group(const EventRecord& record);
inline bool is(const EventRecord& record, GroupEvent event) {
  return record.kind == static_cast<std::uint64_t>(event);
}
GroupStep step_of(const EventRecord& record);
GroupMember member_of(const EventRecord& record);
GroupShare share_of(const EventRecord& record);

/// Names put together again of their pieces, which hosts tell of each for itself, in any order.
class GroupTexts {
 public:
  void add(const EventRecord& record);
  /// Nothing while pieces are missing.
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
