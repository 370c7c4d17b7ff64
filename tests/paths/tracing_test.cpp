// SPDX-License-Identifier: Apache-2.0
// tests/paths/tracing_test.cpp — trace directories of simulated runs.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "eventspace/trace/computation_times.hpp"
#include "eventspace/trace/file.hpp"
#include "paths/run/live_tracing.hpp"
#include "paths/run/structure_of.hpp"
#include "paths/wire/local/transport.hpp"
#include "tests/support/traced_run.hpp"

namespace {

using namespace std::chrono_literals;
using eventspace::EventKind;
using namespace test_support;

constexpr const char* config = R"(
clusters:
  alpha: {hosts: 2, threads: 2}
  beta: {hosts: 2, threads: 1, gateway: beta-gate}
links: [{between: [alpha, beta], latency: 5ms}]
collectives:
  sum: {operation: sum, template: f64, algorithm: conditional, condition: {greater: 1000},
        contributions: non_negative}
)";

constexpr int iterations = 20;

void compute_and_move(paths::Thread& thread) {
  for (int i = 0; i < iterations; ++i) {
    thread.sleep_for((1 + thread.rank()) * 1ms);
    thread.path("sum").move_value(1.0);
  }
}

void run(const Sim& sim, const std::filesystem::path& directory) {
  run_traced(sim, directory, compute_and_move);
}

/// Returns the number of records of each kind. Checks that no file lacks records or its end.
std::map<std::uint64_t, int> whole_records(const std::filesystem::path& directory) {
  for (const auto& file : report_of(directory).files) {
    CHECK(file.ended);
    CHECK(file.losses.has_none());
  }
  std::map<std::uint64_t, int> kinds;
  for (const auto& [host, record] : records_of(directory)) ++kinds[record.kind];
  return kinds;
}

}  // namespace

TEST_CASE("tracing: every host writes its records and the directory describes itself") {
  const trace_sample::Folder folder;
  const Sim sim(config, traced());
  run(sim, folder.path());
  const eventspace::TraceDirectory trace(folder.path());
  CHECK(trace.structure == paths::structure_of(sim.plan(), sim.kinds()));
  CHECK(trace.missing_hosts.empty());
  CHECK(trace.files.size() == sim.plan().hosts.size());
  for (const auto& file : trace.files) {
    CHECK(file.header.plan == sim.plan().digest.text());
    CHECK(file.header.clock == "virtual");
    CHECK(file.header.command == std::vector<std::string>{"test", "--of", "tracing"});
  }
  // The trace directory contains a config with which the run can be repeated.
  const std::string text = eventspace::read_whole(folder.path() / eventspace::config_file_name);
  CHECK(Sim(text).plan().digest == sim.plan().digest);
}

TEST_CASE("tracing: each thread records its begin and end and each collector each operation") {
  const trace_sample::Folder folder;
  const Sim sim(config, traced());
  run(sim, folder.path());
  auto kinds = whole_records(folder.path());
  CHECK(kinds[static_cast<std::uint64_t>(EventKind::thread)] == 2 * 6);
  CHECK(kinds[static_cast<std::uint64_t>(EventKind::cache_read)] == 2 * iterations);
  CHECK(kinds[static_cast<std::uint64_t>(EventKind::prefetch)] >= 2 * iterations - 2);
  CHECK(kinds[static_cast<std::uint64_t>(EventKind::link)] > 0);
  const auto report = report_of(folder.path()).report;
  CHECK(report.coverage.unknown == 0);
  CHECK(report.coverage.without_computation == 0);
  for (const auto& thread : report.threads) {
    CHECK(thread.computation.count == iterations);
    CHECK(thread.computation.p50 == (1 + thread.rank) * 1'000'000);
  }
}

TEST_CASE("tracing: a further deployment has its own trace without records of others") {
  const auto clock = GENERATE(runtime::ClockKind::virtual_time, runtime::ClockKind::steady);
  const trace_sample::Folder folder;
  const Sim sim(config, traced());
  const Sim pair(
      "clusters: {one: {hosts: [alpha-0], threads: 1}, other: {hosts: [beta-1], threads: 1}}\n"
      "links: [{between: [one, other], latency: 1ms}]\n"
      "collectives: {both: {operation: sum, template: f64}}\n",
      traced());
  const auto thread_function = [&](paths::Thread& thread) {
    const std::string& name = thread.host().name();
    for (int again = 0; again < 2 && thread.index() == 0; ++again) {
      if (name != "alpha-0" && name != "beta-1") break;
      const auto deployment = thread.host().deploy("pair", pair.shared_plan());
      {
        paths::Thread member(*deployment, 0, 1);
        for (int i = 0; i < 7; ++i) {
          member.sleep_for(1ms + member.rank() * 2ms);
          member.path("both").move_value(1.0);
        }
      }
      deployment->finish();
    }
    compute_and_move(thread);
  };
  run_traced(sim, folder.path(), thread_function, clock);
  for (const char* const name : {"pair.1", "pair.2"}) {
    const auto directory = folder.path() / "wirings" / name;
    const eventspace::TraceDirectory trace(directory);
    CHECK(trace.structure == paths::structure_of(pair.plan(), pair.kinds()));
    CHECK(trace.missing_hosts.empty());
    auto kinds = whole_records(directory);
    CHECK(kinds[static_cast<std::uint64_t>(EventKind::thread)] == 2 * 2);
    CHECK(kinds[static_cast<std::uint64_t>(EventKind::link)] == 2 * 7);
    const auto report = report_of(directory).report;
    CHECK(report.coverage.unknown == 0);
    CHECK(report.coverage.without_computation == 0);
    for (const auto& one : report.threads) CHECK(one.computation.count == 7);
  }
  const auto report = report_of(folder.path()).report;
  CHECK(report.coverage.unknown == 0);
  for (const auto& one : report.threads) CHECK(one.computation.count == iterations);
}

TEST_CASE("tracing: computation times of threads can be extracted") {
  const trace_sample::Folder folder;
  const Sim sim(config, traced());
  run(sim, folder.path());
  const auto times =
      eventspace::computation_times(eventspace::TraceDirectory(folder.path()), "sum");
  REQUIRE(times.size() == 6);
  for (std::int64_t rank = 0; rank < 6; ++rank)
    CHECK(times[static_cast<std::size_t>(rank)] ==
          std::vector<std::int64_t>(iterations, (1 + rank) * 1'000'000));
}

TEST_CASE("tracing: two runs of one seed write the same records") {
  const trace_sample::Folder one, other;
  const Sim sim(config, traced());
  run(sim, one.path());
  run(sim, other.path());
  const eventspace::TraceDirectory first(one.path()), second(other.path());
  for (std::size_t i = 0; i < first.files.size(); ++i) {
    eventspace::TraceReader a(first.files[i].path), b(second.files[i].path);
    std::vector<eventspace::EventRecord> from_a, from_b;
    while (a.next(from_a)) {
      REQUIRE(b.next(from_b));
      CHECK(from_a == from_b);
    }
    CHECK(!b.next(from_b));
  }
}

TEST_CASE("tracing: a run does not overwrite the trace of another one") {
  const trace_sample::Folder folder;
  const Sim sim(config, traced());
  run(sim, folder.path());
  CHECK_THROWS_WITH(run(sim, folder.path()),
                    Catch::Contains("alpha-0.trace") && Catch::Contains("exists"));
}

TEST_CASE("tracing: a trace that cannot be written does not fail the run") {
  const trace_sample::Folder folder;
  const Sim sim(config, traced());
  const paths::RunOptions options = {.clock = runtime::ClockKind::virtual_time,
                                     .trace = {folder.path().string(), {}}};
  bool is_finished = false;
  const auto failures = paths::run_plan(
      sim.shared_plan(), sim.kinds(), options,
      [&](paths::Thread& thread) {
        compute_and_move(thread);
        std::filesystem::remove_all(folder.path());
      },
      [&](const paths::RunSummary&) { is_finished = true; });
  CHECK(failures == std::vector<std::string>());
  CHECK(is_finished);
}

TEST_CASE("tracing: records that a trace lacks are counted with the reason") {
  const trace_sample::Folder folder;
  const Sim sim(config, traced());
  const bool is_lost = GENERATE(true, false);
  runtime::Runtime runtime;  // steady clock, on which no records are flushed before the end
  paths::LocalNetwork network(sim.plan().hosts.size());
  paths::Host host(runtime, sim.shared_plan(), 0, sim.kinds(), network.transport(0));
  paths::LiveTracing tracing(runtime, sim.plan(), sim.kinds(), 1, {folder.path().string(), {}});
  tracing.add(host);
  const std::size_t room = paths::LiveTracing::lane_records;
  for (std::size_t i = 0; i < room + 3; ++i) host.recorder().add({});
  if (is_lost) std::filesystem::remove_all(folder.path());
  const std::string dropped =
      "the trace of host alpha-0 lacks 3 records that were made faster than they could be written";
  const std::string lost = fmt::format(
      " and {} records that could not be written ({}/alpha-0.trace: cannot write: No such file or "
      "directory)",
      room, folder.path().string());
  CHECK(tracing.finish() == std::vector{is_lost ? dropped + lost : dropped});
}

TEST_CASE("tracing: recording does not change the behaviour of a run") {
  const trace_sample::Folder folder;
  base::Nanos end{0};
  run_traced(Sim(config, traced()), folder.path(), [&](paths::Thread& thread) {
    compute_and_move(thread);
    end = std::max(end, thread.now());
  });
  CHECK(end == Sim(config).run_well(compute_and_move).end);
}

TEST_CASE("tracing: the structure lists the clusters whose values a check combines") {
  const Sim sim(config, traced());
  const auto structure = paths::structure_of(sim.plan(), sim.kinds());
  int checks = 0;
  for (const auto& wrapper : structure.wrappers) {
    if (wrapper.kind != "condition_check") continue;
    ++checks;
    CHECK(wrapper.combines == std::vector<std::uint32_t>{0, 1});
    CHECK_THAT(wrapper.position, Catch::StartsWith("test:"));
  }
  CHECK(checks == 2);
}

TEST_CASE("tracing: the structure has each wrapper's job as derived for older traces") {
  const std::string algorithm =
      GENERATE("sequential", "conditional:demand", "periodic:5", "lagged:2");
  const Sim sim(config, traced(algorithm));
  for (auto wrapper : paths::structure_of(sim.plan(), sim.kinds()).wrappers) {
    INFO(wrapper.kind);
    const auto said = wrapper;
    eventspace::set_job_by_kind(wrapper);
    CHECK(wrapper == said);
  }
}

TEST_CASE("tracing: the records of every relaxation form whole rounds") {
  const std::string algorithm = GENERATE("exact", "conditional:demand", "conditional:subscribe:4",
                                         "periodic:5", "lagged:2", "budget:6,3");
  const trace_sample::Folder folder;
  const Sim sim(config, traced(algorithm));
  run(sim, folder.path());
  const auto report = report_of(folder.path()).report;
  CAPTURE(algorithm);
  std::uint64_t rounds = 0;
  for (const auto& critical : report.critical) {
    CHECK(critical.incomplete_rounds == 0);
    CHECK(critical.failed_rounds == 0);
    rounds += critical.rounds;
  }
  CHECK(rounds == (algorithm == "periodic:5" ? 2 * 4 : 2 * iterations));
}
