// SPDX-License-Identifier: Apache-2.0
// eventspace/export/records.cpp — visit of all records, and names of their kinds and flags.
#include "eventspace/export/records.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "eventspace/group_record.hpp"
#include "eventspace/transfer_record.hpp"

namespace eventspace {

Exported for_each_record(
    const TraceDirectory& trace, const HostClocks& clocks,
    const std::function<void(std::uint32_t host, const EventRecord& record)>& visit) {
  Exported exported;
  std::vector<EventRecord> records;
  for (const TraceDirectory::File& file : trace.files) {
    TraceReader reader(file.path);
    while (reader.next(records)) {
      exported.records += records.size();
      for (EventRecord& record : records) {
        clocks.apply(file.host, record);
        visit(file.host, record);
      }
    }
    exported.losses += reader.losses();
  }
  return exported;
}

std::string_view name_of_kind(const EventRecord& record) {
  if (is_operation(record)) return "operation";
  constexpr std::array<std::string_view, 14> names = {
      "thread",       "cache_read",  "prefetch", "link",  "clock", "group_text", "group_step",
      "group_member", "group_share", "transfer", "start", "wait",  "iteration",  "prediction"};
  const std::uint64_t number = record.kind - static_cast<std::uint64_t>(EventKind::thread);
  return number < names.size() ? names[number] : "unknown";
}

std::string_view name_of_operation(const EventRecord& record) {
  if (!is_operation(record)) return "";
  return operation_name_of(record.kind);
}

std::string names_of_flags(const EventRecord& record) {
  if (is(record, GroupEvent::step)) return std::string(name_of(step_of(record).action));
  if (is_transfer(record)) {
    const Transfer transfer = transfer_of(record);
    return fmt::format("{}{}", transfer.has_stream ? "stream" : "",
                       !transfer.ends_message ? ""
                       : transfer.has_stream  ? "|last"
                                              : "last");
  }
  const std::array<std::pair<std::uint8_t, std::string_view>, 8> names = {
      {{event_failed, "failed"},
       {event_one_way, "one_way"},
       {event_last_arriver, "last_arriver"},
       {event_proved, "proved"},
       {event_cached, "cached"},
       {event_remote, "remote"},
       {event_undecided, "undecided"},
       {event_in_group, is_operation(record) ? "numbered" : "in_group"}}};
  std::string text;
  for (const auto& [flag, name] : names)
    if ((record.flags & flag) != 0) text += fmt::format("{}{}", text.empty() ? "" : "|", name);
  return text;
}

}  // namespace eventspace
