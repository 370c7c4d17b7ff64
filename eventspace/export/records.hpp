// SPDX-License-Identifier: Apache-2.0
// eventspace/export/records.hpp — visit of a trace's records, and names of their kinds.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "eventspace/record.hpp"
#include "eventspace/trace/host_clocks.hpp"
#include "eventspace/trace/reader.hpp"

namespace eventspace {

/// Result of an export. Losses of the trace are no errors; the caller reports them to the user.
struct Exported {
  std::uint64_t records = 0;
  TraceLosses losses;
};

/// Visits all readable records host by host, with times on the common clock.
Exported for_each_record(
    const TraceDirectory& trace, const HostClocks& clocks,
    const std::function<void(std::uint32_t host, const EventRecord& record)>& visit);

std::string_view name_of_kind(const EventRecord& record);       ///< such as "operation"
std::string_view name_of_operation(const EventRecord& record);  ///< "move"; "" = not an operation
std::string names_of_flags(const EventRecord& record);          ///< such as "one_way|remote"

}  // namespace eventspace
