// SPDX-License-Identifier: Apache-2.0
// eventspace/page/page_groups.hpp — first operations of groups, for the timeline of the page.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "eventspace/group_record.hpp"

namespace eventspace {

/// Bars of the timeline, one for each thread's part in an operation.
struct PageGroupsReport {
  struct Bar {
    std::uint32_t thread = 0;
    std::uint32_t name = 0;
    std::int64_t begin_nanos = 0;
    std::int64_t end_nanos = 0;
  };
  std::vector<std::string> names;  ///< "allreduce of world by tree"
  std::vector<Bar> bars;           ///< sorted by begin
  std::uint64_t more = 0;          ///< number of bars that were dropped
};

/// Collects the first bars_max bars of group operations. Memory: bars_max members.
class PageGroups {
 public:
  static constexpr std::size_t bars_max = 20'000;

  void add(const EventRecord& record);
  PageGroupsReport finish();

 private:
  GroupTexts texts_;
  std::vector<GroupMember> members_;
  std::uint64_t more_ = 0;
};

}  // namespace eventspace
