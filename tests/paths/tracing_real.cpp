// SPDX-License-Identifier: Apache-2.0
// tests/paths/tracing_real.cpp — traces of processes, also of killed processes.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "eventspace/trace/host_clocks.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/traced_run.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;
using eventspace::TraceDirectory;

constexpr int hosts = 5;

Sim traced_sim() {
  return Sim(network_line("tcp", hosts) + R"(
clusters:
  alpha: {hosts: 2, threads: 2}
  beta: {hosts: [b1, b2], threads: 1, gateway: beta-gate}
links: [{between: [alpha, beta], latency: 1ms}]
collectives:
  sum: {operation: sum, template: f64, algorithm: sequential}
)",
             traced());
}

}  // namespace

TEST_CASE("tracing of processes: every host's file has an end and all are put on one clock") {
  const trace_sample::Folder folder;
  const Sim sim = traced_sim();
  const auto work = [](paths::Thread& thread, const Say&) {
    for (int i = 0; i < 100; ++i) {
      thread.sleep_for(1ms);
      thread.path("sum").move_value(1.0);
    }
  };
  auto processes = start_hosts(sim, work, {}, folder.path().string());
  check_all_end_well(processes);
  const TraceDirectory trace(folder.path());
  const auto clocks = eventspace::HostClocks::best(trace);
  CHECK(clocks.kind() == eventspace::HostClocks::Kind::measured);
  const auto report = eventspace::analyze_trace(trace, clocks);
  CHECK(eventspace::losses_of(report).empty());
  CHECK(report.report.coverage.unknown == 0);
  REQUIRE(report.report.critical.size() == 1);
  CHECK(report.report.critical[0].rounds == 100);
  // All hosts run on one machine. Therefore no message can seem to arrive before it was sent by
  // more than the error of the clock offsets.
  for (const auto& crossing : report.report.crossings) {
    CHECK(crossing.down_one_way.p50 >= -2 * clocks.error_nanos());
    CHECK(crossing.up_one_way.p50 >= -2 * clocks.error_nanos());
  }
}

TEST_CASE(
    "tracing of processes: records of a killed host are used and its missing end is reported") {
  const trace_sample::Folder folder;
  const Sim sim = traced_sim();
  const auto work = [](paths::Thread& thread, const Say& say) {
    for (int i = 0; i < 100'000; ++i) {
      thread.sleep_for(1ms);
      thread.path("sum").move_value(1.0);
      if (i == 200) say("is at work");
    }
  };
  auto processes = start_hosts(sim, work, {}, folder.path().string());
  REQUIRE(processes.at("b2").says("is at work"));
  kill_host(processes, "b2");
  for (auto& [name, process] : processes) process.end();
  const auto report = report_of(folder.path());
  for (const auto& file : report.files) {
    const std::string& name = sim.plan().hosts[file.host].name;
    INFO(name);
    CHECK(file.ended == (name != "b2"));
    CHECK(file.records > 0);
    CHECK(file.losses.records_missing == 0);
  }
  REQUIRE(report.report.critical.size() == 1);
  CHECK(report.report.critical[0].rounds > 50);
  CHECK_THAT(eventspace::to_text(report), Catch::Contains("did not end") && Catch::Contains("b2"));
}

TEST_CASE("tracing of processes: a directory with a trace is refused by every host") {
  const trace_sample::Folder folder;
  const Sim sim = traced_sim();
  const auto work = [](paths::Thread& thread, const Say&) { thread.path("sum").move_value(1.0); };
  for (const int expected : {0, 2}) {
    auto processes = start_hosts(sim, work, {}, folder.path().string());
    each_end(processes, [&](const std::string& name, const HostProcess& process, int code) {
      CHECK(code == expected);
      CHECK((expected == 0 || process.text().find(name + ".trace") != std::string::npos));
    });
  }
}
