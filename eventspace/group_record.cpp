// SPDX-License-Identifier: Apache-2.0
// eventspace/group_record.cpp — encoding of group steps, members, shares and names in records.
#include "eventspace/group_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/digest.hpp"

namespace eventspace {
namespace {

constexpr std::string_view collective_word = "collective ";
constexpr std::size_t piece_bytes = 7;
constexpr std::size_t text_bytes_max = 4096;  // readers treat a longer text as damage
constexpr std::uint32_t low_24 = (1u << 24) - 1;
constexpr std::uint64_t low_56 = (std::uint64_t{1} << 56) - 1;

EventRecord group_record(GroupEvent event, std::int64_t begin_nanos, std::int64_t end_nanos) {
  EventRecord record;
  record.kind = static_cast<std::uint8_t>(event);
  record.down_nanos = begin_nanos;
  record.up_nanos = end_nanos;
  return record;
}

}  // namespace

std::string text_of(const GroupOperation& operation) {
  return operation.group + '\n' + operation.collective + '\n' + operation.algorithm +
         (operation.reason.empty() ? "" : '\n' + operation.reason) +
         (operation.row.empty() ? "" : '\n' + operation.row);
}

GroupOperation group_operation_of(std::string_view text) {
  const auto word = [&] {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string found(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    return found;
  };
  GroupOperation operation;
  operation.group = word();
  operation.collective = word();
  operation.algorithm = word();
  operation.reason = word();
  operation.row = word();
  return operation;
}

std::string group_of_collective(std::string_view label, std::string_view collective) {
  return fmt::format("{}{}{}{}", label, label.empty() ? "" : "/", collective_word, collective);
}

std::string_view collective_of_group(std::string_view group) {
  const std::size_t slash = group.rfind('/');
  if (slash != std::string_view::npos) group.remove_prefix(slash + 1);
  return group.starts_with(collective_word) ? group.substr(collective_word.size())
                                            : std::string_view();
}

std::string words_of(const GroupOperation& operation) {
  std::string text = operation.collective + " of " + operation.group;
  if (!operation.algorithm.empty()) text += " by " + operation.algorithm;
  if (operation.reason.empty()) return text;
  text += " (" + operation.reason;
  if (!operation.row.empty()) text += ", line " + operation.row + " of the table";
  return text + ")";
}

std::uint32_t text_number(std::string_view text) {
  return static_cast<std::uint32_t>(base::digest_of(text).low);
}

std::string_view name_of(GroupAction action) {
  constexpr std::array<std::string_view, 4> names = {"send", "receive", "fold", "copy"};
  return names.at(static_cast<std::size_t>(action));
}

EventRecord record_of(const GroupStep& step) {
  EventRecord record = group_record(GroupEvent::step, step.begin_nanos, step.end_nanos);
  const std::uint64_t bytes = std::min<std::uint64_t>(step.bytes, 0xffffffff);
  record.place = step.share;
  record.slot = static_cast<std::uint32_t>(bytes >> 24 << 24) | (step.peer & low_24);
  record.sequence = std::uint64_t{step.channel & low_24} << 32 | step.number;
  record.bytes = static_cast<std::uint32_t>(bytes) & low_24;
  record.flags = static_cast<std::uint8_t>(step.action);
  return record;
}

GroupStep step_of(const EventRecord& record) {
  GroupStep step;
  step.share = record.place;
  step.number = static_cast<std::uint32_t>(record.sequence);
  step.action = static_cast<GroupAction>(record.flags & 3u);
  step.peer = record.slot & low_24;
  step.channel = static_cast<std::uint32_t>(record.sequence >> 32);
  step.bytes = (record.slot & ~low_24) | record.bytes;
  step.begin_nanos = record.down_nanos;
  step.end_nanos = record.up_nanos;
  return step;
}

EventRecord record_of(const GroupMember& member) {
  EventRecord record = group_record(GroupEvent::member, member.begin_nanos, member.end_nanos);
  record.place = member.thread;
  record.slot = member.text;
  record.sequence = (member.bytes >> 24 & low_24) << 32 | member.share;
  record.bytes = static_cast<std::uint32_t>(member.bytes) & low_24;
  return record;
}

GroupMember member_of(const EventRecord& record) {
  GroupMember member;
  member.thread = record.place;
  member.text = record.slot;
  member.share = static_cast<std::uint32_t>(record.sequence);
  member.bytes = (record.sequence >> 32) << 24 | record.bytes;
  member.begin_nanos = record.down_nanos;
  member.end_nanos = record.up_nanos;
  return member;
}

EventRecord record_of(const GroupShare& share) {
  EventRecord record = group_record(GroupEvent::share, share.begin_nanos, share.end_nanos);
  record.place = share.text;
  record.slot = share.share;
  record.sequence = std::uint64_t{share.hosts & low_24} << 32 | share.operation;
  if (share.has_failed) record.flags = event_failed;
  return record;
}

GroupShare share_of(const EventRecord& record) {
  GroupShare share;
  share.text = record.place;
  share.share = record.slot;
  share.operation = static_cast<std::uint32_t>(record.sequence);
  share.hosts = static_cast<std::uint32_t>(record.sequence >> 32);
  share.has_failed = (record.flags & event_failed) != 0;
  share.begin_nanos = record.down_nanos;
  share.end_nanos = record.up_nanos;
  return share;
}

EventRecord record_of(const GroupPrediction& prediction) {
  EventRecord record =
      group_record(GroupEvent::prediction, prediction.at_nanos, prediction.at_nanos);
  record.place = prediction.text;
  record.slot = prediction.share;
  record.sequence = prediction.predicted_nanos & low_56;
  const double thousandths = std::round(prediction.measured_per_predicted * 1000);
  record.bytes = static_cast<std::uint32_t>(std::clamp(thousandths, 0.0, double{low_24})) & low_24;
  return record;
}

GroupPrediction prediction_of(const EventRecord& record) {
  GroupPrediction prediction;
  prediction.text = record.place;
  prediction.share = record.slot;
  prediction.predicted_nanos = record.sequence;
  prediction.measured_per_predicted = record.bytes / 1000.0;
  prediction.at_nanos = record.down_nanos;
  return prediction;
}

std::vector<EventRecord> records_of(std::string_view text, std::int64_t at_nanos) {
  text = text.substr(0, text_bytes_max);
  std::vector<EventRecord> records;
  for (std::size_t at = 0; at == 0 || at < text.size(); at += piece_bytes) {
    EventRecord record = group_record(GroupEvent::text, at_nanos, at_nanos);
    record.place = text_number(text);
    record.slot = static_cast<std::uint32_t>(at / piece_bytes);
    std::uint64_t piece = 0;
    for (std::size_t byte = 0; byte < piece_bytes && at + byte < text.size(); ++byte)
      piece |= std::uint64_t{static_cast<unsigned char>(text[at + byte])} << 8 * byte;
    record.sequence = piece & low_56;
    record.bytes = static_cast<std::uint32_t>(text.size()) & low_24;
    records.push_back(record);
  }
  return records;
}

bool is_of_group(const EventRecord& record) {
  return (record.kind >= static_cast<std::uint64_t>(GroupEvent::text) &&
          record.kind <= static_cast<std::uint64_t>(GroupEvent::share)) ||
         is(record, GroupEvent::prediction);
}

void GroupTexts::add(const EventRecord& record) {
  const std::size_t bytes = record.bytes;
  const std::size_t at = std::size_t{record.slot} * piece_bytes;
  if (bytes > text_bytes_max || (at >= bytes && at > 0)) return;
  Text& text = texts_[record.place];
  if (text.has.empty()) {
    text.bytes.resize(bytes);
    text.has.resize(std::max<std::size_t>(1, (bytes + piece_bytes - 1) / piece_bytes));
    text.missing = text.has.size();
  }
  if (record.slot >= text.has.size() || text.has[record.slot]) return;
  text.has[record.slot] = true;
  --text.missing;
  for (std::size_t byte = 0; byte < piece_bytes && at + byte < text.bytes.size(); ++byte)
    text.bytes[at + byte] = static_cast<char>(record.sequence >> 8 * byte & 0xff);
}

const std::string* GroupTexts::find(std::uint32_t number) const {
  const auto found = texts_.find(number);
  return found == texts_.end() || found->second.missing > 0 ? nullptr : &found->second.bytes;
}

}  // namespace eventspace
