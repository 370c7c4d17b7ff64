// SPDX-License-Identifier: Apache-2.0
// tests/groups/traced_run.hpp — a program with groups, traced on the virtual clock, and its report.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "eventspace/analysis/analyze_trace.hpp"
#include "eventspace/group_record.hpp"
#include "groups/group.hpp"
#include "paths/host/host.hpp"
#include "tests/eventspace/trace_sample.hpp"
#include "tests/support/sim.hpp"

namespace groups_test {

/// Traced run. The destructor removes its trace.
class TracedRun {
 public:
  TracedRun(const std::string& config, const std::function<void(paths::Thread&)>& thread)
      : sim_(config) {
    paths::RunOptions options;
    options.trace.directory = folder_.path().string();
    options.clock = runtime::ClockKind::virtual_time;
    failures = paths::run_plan(sim_.shared_plan(), sim_.kinds(), options, thread);
  }
  eventspace::TraceDirectory trace() const { return eventspace::TraceDirectory(folder_.path()); }
  eventspace::TraceReport report() const {
    const eventspace::TraceDirectory directory = trace();
    return eventspace::analyze_trace(directory, eventspace::HostClocks::own(directory));
  }
  std::vector<std::pair<std::uint32_t, eventspace::EventRecord>> records() const {
    std::vector<std::pair<std::uint32_t, eventspace::EventRecord>> all;
    const eventspace::TraceDirectory directory = trace();
    eventspace::MergedTrace merged(directory);
    std::uint32_t host = 0;
    std::span<const eventspace::EventRecord> records;
    while (merged.next(host, records))
      for (const auto& record : records) all.emplace_back(host, record);
    return all;
  }

  std::vector<std::string> failures;

 private:
  test_support::Sim sim_;
  trace_sample::Folder folder_;
};

}  // namespace groups_test
