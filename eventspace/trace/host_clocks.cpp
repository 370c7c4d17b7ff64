// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/host_clocks.cpp — conversion of all hosts' times to one clock.
#include "eventspace/trace/host_clocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/errors.hpp"
#include "eventspace/trace/saturating.hpp"

namespace eventspace {
namespace {

bool all_say(const TraceDirectory& trace, bool (*says)(const TraceHeader&)) {
  return std::all_of(trace.files.begin(), trace.files.end(),
                     [says](const auto& file) { return says(file.header); });
}

/// Returns for each host with a file the conversion from its clock to the clock of the first of
/// these hosts. Returns nullopt if one of them cannot be converted. A host without a file can
/// connect two others, because others may have read its clock.
std::optional<std::vector<ClockLine>> measure(const TraceDirectory& trace) {
  ClockOffsets offsets(trace.structure);
  std::vector<EventRecord> records;
  for (const TraceDirectory::File& file : trace.files) {
    TraceReader reader(file.path);
    while (reader.next(records)) offsets.add(file.host, records);
  }
  std::vector<ClockLine> lines(trace.structure.hosts.size());
  const auto known = offsets.lines(trace.files.front().host);
  for (const TraceDirectory::File& file : trace.files) {
    if (!known[file.host]) return std::nullopt;
    lines[file.host] = *known[file.host];
  }
  return lines;
}

}  // namespace

HostClocks HostClocks::compared(const TraceDirectory& trace) {
  HostClocks clocks = own(trace);
  if (clocks.kind_ == Kind::one || trace.files.empty()) return clocks;
  if (auto lines = measure(trace)) return measured(trace, *std::move(lines));
  return clocks;
}

HostClocks HostClocks::best(const TraceDirectory& trace) {
  HostClocks clocks = compared(trace);
  if (clocks.kind_ != Kind::own || trace.files.empty()) return clocks;
  if (!all_say(trace,
               [](const TraceHeader& header) { return header.origin_utc_nanos.has_value(); }))
    return clocks;
  clocks.kind_ = Kind::utc;
  clocks.is_utc_ = true;
  for (const auto& file : trace.files)
    clocks.lines_[file.host].offset_nanos = *file.header.origin_utc_nanos;
  return clocks;
}

HostClocks HostClocks::own(const TraceDirectory& trace) {
  const bool is_virtual = !trace.files.empty() && all_say(trace, [](const TraceHeader& header) {
    return header.clock == "virtual";
  });
  return {is_virtual ? Kind::one : Kind::own, std::vector<ClockLine>(trace.structure.hosts.size())};
}

HostClocks HostClocks::measured(const TraceDirectory& trace, std::vector<ClockLine> lines) {
  ENSURE_EQ(lines.size(), trace.structure.hosts.size());
  HostClocks clocks{Kind::measured, std::move(lines)};
  const auto& first = trace.files.front().header.origin_utc_nanos;
  clocks.is_utc_ = first.has_value();
  for (ClockLine& line : clocks.lines_)
    line.offset_nanos = saturating_sum(line.offset_nanos, first.value_or(0));
  return clocks;
}

std::int64_t HostClocks::apply(std::uint32_t host, std::int64_t nanos) const {
  return lines_[host].apply(nanos);
}

void HostClocks::apply(std::uint32_t host, EventRecord& record) const {
  record.down_nanos = apply(host, record.down_nanos);
  record.up_nanos = apply(host, record.up_nanos);
}

std::int64_t HostClocks::error_nanos() const {
  std::int64_t error = 0;
  for (const ClockLine& line : lines_) error = std::max(error, line.error_nanos);
  return error;
}

std::string HostClocks::text() const {
  switch (kind_) {
    case Kind::own: return "each host's own clock";
    case Kind::one: return "one clock";
    case Kind::utc: return "UTC, as each host had it";
    case Kind::measured: break;
  }
  return fmt::format("one clock by measured offsets, within {:.3f} ms",
                     static_cast<double>(error_nanos()) / 1e6);
}

}  // namespace eventspace
