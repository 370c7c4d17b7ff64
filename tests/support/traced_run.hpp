// SPDX-License-Identifier: Apache-2.0
// tests/support/traced_run.hpp — programs that are traced, and the reports about them.
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "eventspace/analysis/analyze_trace.hpp"
#include "tests/eventspace/trace_sample.hpp"
#include "tests/support/sim.hpp"
#include "tests/support/time_sums.hpp"

namespace test_support {

/// Runs `sim` with a trace in `directory`. Fails the test case unless `expected_failures` threads
/// failed.
inline void run_traced(const Sim& sim, const std::filesystem::path& directory,
                       const std::function<void(paths::Thread&)>& thread,
                       runtime::ClockKind clock = runtime::ClockKind::virtual_time,
                       std::size_t expected_failures = 0) {
  const paths::RunOptions options = {.clock = clock,
                                     .trace = {directory.string(), {"test", "--of", "tracing"}}};
  const auto failures = paths::run_plan(sim.shared_plan(), sim.kinds(), options, thread);
  INFO(fmt::format("{}", fmt::join(failures, "\n")));
  REQUIRE(failures.size() == expected_failures);
}

/// Returns the report about a trace, and checks that its times add up. The analysis uses
/// the clock of each host (HostClocks::own).
inline eventspace::TraceReport report_of(const std::filesystem::path& directory) {
  const eventspace::TraceDirectory trace(directory);
  eventspace::TraceReport report =
      eventspace::analyze_trace(trace, eventspace::HostClocks::own(trace));
  check_sums(report.report.time);
  return report;
}

/// Returns all records of a trace in order of time, each with the number of its host.
inline std::vector<std::pair<std::uint32_t, eventspace::EventRecord>> records_of(
    const std::filesystem::path& directory) {
  std::vector<std::pair<std::uint32_t, eventspace::EventRecord>> all;
  const eventspace::TraceDirectory trace(directory);
  eventspace::MergedTrace merged(trace);
  std::uint32_t host = 0;
  std::span<const eventspace::EventRecord> records;
  while (merged.next(host, records))
    for (const auto& record : records) all.emplace_back(host, record);
  return all;
}

/// Traced run on the virtual clock. The destructor removes its trace.
class TracedRun {
 public:
  TracedRun(const std::string& config, const std::function<void(paths::Thread&)>& thread,
            std::size_t expected_failures = 0) {
    run_traced(Sim(config, traced()), folder_.path(), thread, runtime::ClockKind::virtual_time,
               expected_failures);
  }
  eventspace::TraceDirectory trace() const { return eventspace::TraceDirectory(folder_.path()); }
  eventspace::TraceReport report() const { return report_of(folder_.path()); }
  auto records() const { return records_of(folder_.path()); }

 private:
  trace_sample::Folder folder_;
};

}  // namespace test_support
