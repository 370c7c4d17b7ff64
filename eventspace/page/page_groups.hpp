// SPDX-License-Identifier: Apache-2.0
// eventspace/page/page_groups.hpp — the first operations of groups, to look at one by one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "eventspace/group_record.hpp"

namespace eventspace {

/// Of each thread's part in an operation a bar.
struct PageGroupsReport {
  struct Bar {
    std::uint32_t thread = 0;
    std::uint32_t name = 0;
    std::int64_t begin_nanos = 0;
    std::int64_t end_nanos = 0;
  };
  std::vector<std::string> names;  ///< "allreduce of world by tree"
  std::vector<Bar> bars;           ///< by begin
  std::uint64_t more = 0;          ///< that are not kept
};

/// Memory: bars_max of the first that come.
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
