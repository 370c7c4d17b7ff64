// SPDX-License-Identifier: Apache-2.0
// tests/paths/traced_algorithms_test.cpp — figures of whole runs under each algorithm, against what
// the runs themselves did.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "eventspace/analysis/analyze_trace.hpp"
#include "paths/tracing.hpp"
#include "tests/eventspace/trace_sample.hpp"
#include "tests/support/sim.hpp"

namespace {

using namespace std::chrono_literals;
using test_support::Sim;
using trace_sample::Folder;

constexpr int iterations = 100;
constexpr std::int64_t ms = 1'000'000;

/// Each thread computes for 30 ms; three clusters, 10 ms apart.
struct TracedRun {
  eventspace::Report report;
  std::vector<base::Nanos> took;  ///< by rank, from begin to end
  std::uint64_t wan_messages = 0;
  std::uint64_t wan_bytes = 0;
};

TracedRun traced(const std::string& algorithm) {
  const Folder folder;
  paths::Overrides overrides;
  overrides.traced = true;
  const Sim sim(R"(
clusters:
  alpha: {hosts: 2, threads: 2}
  beta: {hosts: 1, threads: 2}
  gamma: {hosts: 1, threads: 2}
links:
  - {between: [alpha, beta], latency: 10ms}
  - {between: [alpha, gamma], latency: 10ms}
  - {between: [beta, gamma], latency: 10ms}
collectives:
  sum: {operation: sum, template: f64, algorithm: ")" +
                    algorithm + R"(", condition: {greater: 1000}, contributions: non_negative}
)",
                overrides);
  TracedRun run;
  run.took.resize(sim.plan().thread_count());
  paths::RunOptions options;
  options.clock = runtime::ClockKind::virtual_time;
  options.trace.directory = folder.path().string();
  const auto failures =
      paths::run_plan(sim.shared_plan(), sim.kinds(), options, [&run](paths::Thread& thread) {
        const base::Nanos begin = thread.now();
        for (int i = 0; i < iterations; ++i) {
          thread.sleep_for(30ms);
          thread.path("sum").move_value(1.0);
        }
        run.took[thread.rank()] = thread.now() - begin;
      });
  REQUIRE(failures == std::vector<std::string>());
  const eventspace::TraceDirectory trace(folder.path());
  run.report = analyze_trace(trace, eventspace::HostClocks::own(trace)).report;
  for (const auto& cluster : run.report.clusters) {
    run.wan_messages += cluster.wan_messages;
    run.wan_bytes += cluster.wan_payload_bytes;
  }
  return run;
}

}  // namespace

TEST_CASE("traced run: iterations that nobody checks are iterations, and their time is the run's") {
  const TracedRun run = traced("periodic:10");
  INFO(to_text(run.report));
  REQUIRE(run.report.critical.size() == 3);
  for (const auto& tree : run.report.critical) {
    CHECK(tree.rounds == 10);
    CHECK(tree.iterations == 100);
    CHECK(tree.iteration.count == 100);
    CHECK(tree.iteration.p50 == 30 * ms);
    // Each tenth takes 10 ms more: 31 ms in the mean. All of the run is on the critical path.
    const double all = tree.iteration.mean * 100;
    CHECK(all == Approx(static_cast<double>(run.took[0].count())));
    CHECK(tree.by_cause[static_cast<std::size_t>(eventspace::Cause::computation)] == 100 * 30 * ms);
  }
  CHECK_THAT(to_text(run.report), Catch::Contains("100 iterations, 10 rounds"));
}

TEST_CASE("traced run: a tree's bytes between clusters go there and come back") {
  const TracedRun run = traced("sequential");
  CHECK(run.wan_messages == 2 * 2 * iterations);
  CHECK(run.wan_bytes == 2 * 2 * iterations * 8);
}

TEST_CASE("traced run: late checks say how they came by the other clusters' values") {
  for (const auto& [algorithm, lag] : {std::pair{"lagged:2", 2u}, std::pair{"budget:4,2", 4u}}) {
    const TracedRun run = traced(algorithm);
    INFO(algorithm << "\n" << to_text(run.report, 20));
    REQUIRE(run.report.conditionals.size() == 3);
    for (const auto& check : run.report.conditionals) {
      // The first come back unchecked; all others need both other clusters, which came long before.
      CHECK(check.operations == iterations - lag);
      CHECK(check.by_values_needed == std::vector<std::uint64_t>{0, 0, iterations - lag});
      REQUIRE(check.remotes.size() == 2);
      for (const auto& remote : check.remotes) {
        CHECK(remote.reads == iterations - lag);
        CHECK(remote.cached == iterations - lag);
        CHECK(remote.cluster != check.place.cluster);
        CHECK(remote.one_way_half_nanos == 10 * ms);
      }
    }
  }
}

TEST_CASE("traced run: values that are pushed are told by the cluster they come from") {
  for (const std::string algorithm :
       {"magpie:push", "conditional:demand", "conditional:subscribe:4"}) {
    const TracedRun run = traced(algorithm);
    INFO(algorithm << "\n" << to_text(run.report, 20));
    REQUIRE(run.report.conditionals.size() == 3);
    for (const auto& check : run.report.conditionals) {
      CHECK(check.operations == iterations);
      REQUIRE(check.remotes.size() == 2);
      for (const auto& remote : check.remotes) {
        CHECK(remote.cluster != check.place.cluster);
        CHECK(remote.reads == iterations);
        CHECK(remote.one_way_half_nanos == 10 * ms);
        CHECK(remote.cached + remote.in_flight + remote.late == remote.reads);
      }
    }
  }
}
