// SPDX-License-Identifier: Apache-2.0
// eventspace/page/page_groups.cpp — conversion of members of group operations to bars.
#include "eventspace/page/page_groups.hpp"

#include <algorithm>

namespace eventspace {

void PageGroups::add(const EventRecord& record) {
  if (is(record, GroupEvent::text)) texts_.add(record);
  if (!is(record, GroupEvent::member)) return;
  if (members_.size() < bars_max)
    members_.push_back(member_of(record));
  else
    ++more_;
}

PageGroupsReport PageGroups::finish() {
  PageGroupsReport report;
  report.more = more_;
  std::map<std::uint32_t, std::uint32_t> numbers;
  for (const GroupMember& member : members_) {
    const auto [found, is_new] =
        numbers.try_emplace(member.text, static_cast<std::uint32_t>(report.names.size()));
    if (is_new) {
      const std::string* const text = texts_.find(member.text);
      report.names.push_back(text == nullptr ? "?" : words_of(group_operation_of(*text)));
    }
    report.bars.push_back({member.thread, found->second, member.begin_nanos, member.end_nanos});
  }
  std::stable_sort(report.bars.begin(), report.bars.end(),
                   [](const auto& a, const auto& b) { return a.begin_nanos < b.begin_nanos; });
  return report;
}

}  // namespace eventspace
