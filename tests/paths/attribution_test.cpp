// SPDX-License-Identifier: Apache-2.0
// tests/paths/attribution_test.cpp — division of the time of whole runs by causes, compared with
// times computed from the config.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "eventspace/analysis/attribution/division.hpp"
#include "groups/calls/call.hpp"
#include "groups/group.hpp"
#include "pastset/tuple.hpp"
#include "tests/support/traced_run.hpp"

namespace {

using namespace std::chrono_literals;
using eventspace::TimeCause;
using eventspace::TimeReport;
using test_support::Sim;
using test_support::TracedRun;

constexpr const char* two_clusters = R"(
clusters:
  alpha: {hosts: 1, threads: 1}
  beta: {hosts: 1, threads: 1}
links: [{between: [alpha, beta], latency: 30ms, bandwidth: 10Gbit}]
collectives:
  sum: {operation: sum, template: f64, algorithm: magpie, condition: {less: 0.01},
        contributions: non_negative}
exchanges: {rows: {template: "f64[]"}}
)";

/// Runs iterations of a solver. In each iteration, a thread exchanges two rows of 804 bytes and
/// takes part in a sum.
void solve(paths::Thread& thread, int iterations) {
  const bool is_first = thread.rank() == 0;
  paths::Path& out = thread.path(is_first ? "rows.1.from_previous" : "rows.0.from_next");
  paths::Path& in = thread.path(is_first ? "rows.0.from_next" : "rows.1.from_previous");
  const std::vector<double> row(100, 1.0);
  const pastset::Template row_template = *pastset::Template::parse("f64[]");
  const auto receive = [&] { in.axe(in.observe().number); };
  const auto send = [&] {
    pastset::TupleWriter tuple(row_template);
    out.push(tuple.put_array(std::span(row)).payload());
  };
  for (int i = 0; i < iterations; ++i) {
    if (i > 0) receive();
    thread.sleep_for(5us);
    send();
    thread.sleep_for(980us);
    receive();
    thread.sleep_for(5us);
    send();
    thread.path("sum").move_value(1.0);
  }
  receive();
}

/// Returns the total time of the report's rows that have the cause `cause` and whose operation
/// contains `operation`.
std::int64_t nanos_of(const std::vector<eventspace::TimeRow>& rows, TimeCause cause,
                      const std::string& operation) {
  std::int64_t nanos = 0;
  for (const auto& row : rows)
    if (row.cause == cause && row.operation.find(operation) != std::string::npos)
      nanos += row.nanos;
  return nanos;
}

std::int64_t all_of_link(const std::vector<eventspace::TimeRow>& rows,
                         const std::string& operation) {
  return nanos_of(rows, TimeCause::link_latency, operation) +
         nanos_of(rows, TimeCause::link_transmission, operation) +
         nanos_of(rows, TimeCause::link_queue, operation);
}

}  // namespace

TEST_CASE("attribution: a solver's time is that which follows from its config") {
  constexpr std::int64_t iterations = 50;
  const TracedRun run(two_clusters, [](paths::Thread& thread) { solve(thread, iterations); });
  const TimeReport time = run.report().report.time;
  INFO(to_text(time, 20));
  // The bytes of a row occupy the link for 644 ns, the bytes of a value for 33 ns. On the link, the
  // value waits for the second row: 644 + 33 = 677 ns.
  constexpr std::int64_t of_row = 30'000'644 - 980'000;
  constexpr std::int64_t of_sum = 30'000'677;
  constexpr std::int64_t iteration = 5'000 + 980'000 + of_row + 5'000 + of_sum;
  CHECK(time.run_nanos == iterations * iteration);
  CHECK(time.threads_nanos == 2 * time.run_nanos);
  CHECK(nanos_of(time.rows, TimeCause::computing, "") == 2 * iterations * 990'000);
  CHECK(all_of_link(time.rows, "rows") == 2 * iterations * of_row);
  CHECK(all_of_link(time.rows, "allreduce sum") == 2 * iterations * of_sum);
  CHECK(all_of_link(time.critical, "") == iterations * (30'000'644 + of_sum));
  CHECK(time.unknown_share == 0);
  CHECK(time.iterations.count == iterations);
  CHECK(time.iterations.cut_at == "allreduce sum");
  CHECK(time.iterations.length.min == iteration);
  CHECK(time.iterations.length.max == iteration);
  CHECK_THAT(time.headline, Catch::StartsWith("99.98% of the run is on the way over the link "
                                              "between alpha and beta"));
}

TEST_CASE("attribution: constant computations of different length in an iteration are no noise") {
  const TracedRun run(two_clusters, [](paths::Thread& thread) { solve(thread, 100); });
  const auto report = run.report().report;
  INFO(to_text(report, 20));
  for (const auto& thread : report.threads) CHECK(thread.outliers == 0);
  CHECK(report.findings.empty());
}

TEST_CASE("attribution: nothing is unknown and PATHS itself costs nothing under any algorithm") {
  const std::string algorithm =
      GENERATE(as<std::string>{}, "sequential", "magpie", "exact", "conditional", "periodic:4",
               "lagged:2", "budget:5,2", "best");
  const TracedRun run(fmt::format(R"(
clusters:
  alpha: {{hosts: 2, threads: 2}}
  beta: {{hosts: 1, threads: 2, gateway: beta-gate}}
  gamma: {{hosts: 1, threads: 1}}
links: {{all: {{latency: 10ms}}}}
collectives:
  sum: {{operation: sum, template: f64, algorithm: "{}", condition: {{greater: 100}},
        contributions: non_negative}}
)",
                                  algorithm),
                      [](paths::Thread& thread) {
                        for (int i = 0; i < 40; ++i) {
                          thread.sleep_for((1 + thread.rank() % 3) * 1ms);
                          thread.path("sum").move_value(1.0);
                        }
                      });
  const TimeReport time = run.report().report.time;
  INFO(algorithm << '\n' << to_text(time, 20));
  CHECK(time.unknown_share == 0);
  CHECK(time.contradictions == 0);
  CHECK(nanos_of(time.rows, TimeCause::runtime, "") == 0);
  CHECK(time.iterations.count * time.iterations.each == 40);
}

TEST_CASE("attribution: a result that another cluster decided first is not time of PATHS itself") {
  const std::string algorithm = GENERATE(as<std::string>{}, "magpie", "exact", "conditional");
  // The route from alpha to gamma over beta is shorter than the direct route.
  const TracedRun run(fmt::format(R"(
clusters:
  alpha: {{hosts: 2, threads: 1}}
  beta: {{hosts: 1, threads: 2}}
  gamma: {{hosts: 1, threads: 1}}
  delta: {{hosts: 1, threads: 1}}
links:
  - {{between: [alpha, beta], latency: 1ms}}
  - {{between: [beta, gamma], latency: 2ms}}
  - {{between: [alpha, gamma], latency: 40ms}}
  - {{between: [alpha, delta], latency: 5ms}}
  - {{between: [beta, delta], latency: 30ms}}
  - {{between: [gamma, delta], latency: 1ms}}
collectives:
  sum: {{operation: sum, template: f64, algorithm: {}, condition: {{greater: 3.5}},
        contributions: non_negative}}
)",
                                  algorithm),
                      [](paths::Thread& thread) {
                        for (int i = 0; i < 40; ++i) {
                          thread.sleep_for((10 + 3 * thread.rank()) * 1ms);
                          thread.path("sum").move_value(1.0);
                        }
                      });
  const TimeReport time = run.report().report.time;
  INFO(algorithm << '\n' << to_text(time, 20));
  CHECK(time.unknown_share == 0);
  CHECK(nanos_of(time.rows, TimeCause::runtime, "") == 0);
}

TEST_CASE("attribution: a reader waits for the writer, and a writer for room") {
  const TracedRun run(R"(
clusters: {here: {hosts: 1, threads: 2}}
elements: {work: {host: here-0, template: u64, delta: 1, reach: all}}
)",
                      [](paths::Thread& thread) {
                        paths::Path& work = thread.path("work");
                        for (std::uint64_t job = 0; job < 20; ++job) {
                          if (thread.rank() == 0) {
                            thread.sleep_for(job < 10 ? 3ms : 1ms);
                            work.move_value(job);
                          } else {
                            work.axe(work.observe().number);
                            thread.sleep_for(2ms);
                          }
                        }
                      });
  const TimeReport time = run.report().report.time;
  INFO(to_text(time, 20));
  CHECK(time.unknown_share == 0);
  CHECK(nanos_of(time.rows, TimeCause::computing, "observe of work") > 0);
  CHECK(nanos_of(time.rows, TimeCause::computing, "move of work") > 0);
  CHECK(nanos_of(time.rows, TimeCause::runtime, "") == 0);
}

TEST_CASE("attribution: iterations are cut at the collective that is called most") {
  const TracedRun run(R"(
clusters: {here: {hosts: 2, threads: 1}}
collectives:
  residual: {operation: sum, template: f64}
  norm: {operation: max, template: f64}
  steps: {operation: max, template: f64}
)",
                      [](paths::Thread& thread) {
                        thread.sleep_for(100ms);
                        for (int i = 0; i < 30; ++i) {
                          thread.sleep_for(1ms);
                          thread.path("residual").move_value(1.0);
                          thread.path("norm").move_value(1.0);
                          thread.sleep_for(2ms);
                          thread.path("residual").move_value(1.0);
                        }
                        thread.path("steps").move_value(1.0);
                        thread.sleep_for(50ms);
                      });
  const auto iterations = run.report().report.time.iterations;
  CHECK(iterations.cut_at == "allreduce residual");
  CHECK(iterations.rule == "collective");
  CHECK(iterations.each == 2);
  CHECK(iterations.count == 29);
  CHECK(iterations.beginning_nanos >= 100'000'000);
  CHECK(iterations.end_nanos >= 50'000'000);
}

TEST_CASE("attribution: a thread that alone uses an element waits for no other thread") {
  const TracedRun run(R"(
clusters: {here: {hosts: 1, threads: 1}}
elements: {log: {host: here-0, template: u64, delta: 100, reach: all}}
)",
                      [](paths::Thread& thread) {
                        paths::Path& log = thread.path("log");
                        for (std::uint64_t entry = 0; entry < 20; ++entry) {
                          // No virtual time passes between these operations.
                          log.move_value(entry);
                          log.newest(0);
                          log.move_value(entry);
                          thread.sleep_for(1ms);
                        }
                      });
  const TimeReport time = run.report().report.time;
  INFO(to_text(time, 20));
  CHECK(time.unknown_share == 0);
  CHECK(nanos_of(time.rows, TimeCause::computing, "") == 20'000'000);
  CHECK(time.rows.size() == 1);
}

TEST_CASE("attribution: a slow host costs what it loses at the place where it is slow") {
  constexpr const char* config = R"(
clusters: {here: {hosts: 4, threads: 1}}
collectives:
  first: {operation: sum, template: f64}
  second: {operation: sum, template: f64}
)";
  constexpr int iterations = 60;
  const auto program = [](bool has_slow_host) {
    return [=](paths::Thread& thread) {
      for (int i = 0; i < iterations; ++i) {
        thread.sleep_for(10ms);
        thread.path("first").move_value(1.0);
        thread.sleep_for(has_slow_host && thread.rank() == 2 ? 3ms : 2ms);
        thread.path("second").move_value(1.0);
      }
    };
  };
  const auto report = TracedRun(config, program(true)).report().report;
  const auto without = TracedRun(config, program(false)).report().report;
  INFO(to_text(report, 20));
  REQUIRE(!report.findings.empty());
  const std::int64_t cost = report.time.run_nanos - without.time.run_nanos;
  CHECK(cost == iterations * 1'000'000);
  CHECK(std::abs(report.findings.front().cost_nanos - cost) <= cost / 20);
}

TEST_CASE("attribution: noise is found at its place in a program that also calls a group") {
  const TracedRun run(R"(
clusters: {here: {hosts: 2, threads: 1}}
collectives: {sum: {operation: sum, template: f64}}
)",
                      [](paths::Thread& thread) {
                        groups::Group world(thread);
                        for (int i = 0; i < 200; ++i) {
                          const bool is_noisy = thread.rank() == 1 && i % 10 == 5;
                          thread.sleep_for(is_noisy ? 4ms : 1ms);
                          thread.path("sum").move_value(1.0);
                          thread.sleep_for(thread.rank() == 0 ? 20ms : 1ms);
                          world.run(groups::barrier());
                        }
                      });
  const auto report = run.report().report;
  INFO(to_text(report, 20));
  std::uint64_t noisy = 0;
  for (const auto& thread : report.threads)
    if (thread.graph == "sum" && thread.rank == 1) noisy += thread.outliers;
  CHECK(noisy == 20);
  // All rows together contain the noise itself and the wait for it in the collective. The rows of
  // the collective contain only the wait.
  CHECK(nanos_of(report.time.rows, TimeCause::noise, "") == 2 * 20 * 3'000'000);
  CHECK(nanos_of(report.time.rows, TimeCause::noise, "allreduce sum") == 20 * 3'000'000);
}

TEST_CASE("attribution: iterations are found although a thread failed before the others") {
  const TracedRun run(R"(
clusters: {here: {hosts: 3, threads: 1}}
collectives: {sum: {operation: sum, template: f64}}
)",
                      [](paths::Thread& thread) {
                        for (int i = 0; i < 20; ++i) {
                          thread.sleep_for(1ms);
                          if (thread.rank() == 1 && i == 19) throw std::runtime_error("stopped");
                          thread.path("sum").move_value(1.0);
                        }
                      },
                      3);
  const TimeReport time = run.report().report.time;
  INFO(to_text(time, 20));
  CHECK(time.iterations.cut_at == "allreduce sum");
  CHECK(time.iterations.count >= 19);
}

TEST_CASE("attribution: a thread waits for a started operation only while it waits for it") {
  constexpr int iterations = 30;
  const TracedRun run(R"(
clusters: {alpha: {hosts: 1, threads: 1}, beta: {hosts: 1, threads: 1}}
links: [{between: [alpha, beta], latency: 10ms}]
collectives: {sum: {operation: sum, template: f64, algorithm: magpie}}
)",
                      [](paths::Thread& thread) {
                        paths::Path& sum = thread.path("sum");
                        for (int i = 0; i < iterations; ++i) {
                          paths::Started started = sum.start(base::Payload::of(1.0));
                          // In every third iteration, the sleep is longer than the operation.
                          thread.sleep_for(i % 3 == 0 ? 30ms : 4ms);
                          started.wait();
                          thread.sleep_for(1ms);
                        }
                      });
  const TimeReport time = run.report().report.time;
  INFO(to_text(time, 20));
  constexpr std::int64_t hidden = 10, visible = 20, ms = 1'000'000;
  const std::int64_t whole = (time.run_nanos - iterations * 1 * ms - hidden * 30 * ms) / visible;
  CHECK(nanos_of(time.rows, TimeCause::computing, "") + nanos_of(time.rows, TimeCause::noise, "") ==
        2 * (hidden * 30 + visible * 4 + iterations) * ms);
  CHECK(all_of_link(time.rows, "allreduce sum") == 2 * visible * (whole - 4 * ms));
  CHECK(time.unknown_share == 0);
  CHECK(nanos_of(time.rows, TimeCause::runtime, "") == 0);
  CHECK(time.iterations.count == iterations);
  CHECK(time.iterations.cut_at == "allreduce sum");
}

TEST_CASE("attribution: a thread waits for a started operation of a group only in its wait") {
  constexpr int iterations = 30;
  const TracedRun run(R"(
clusters: {alpha: {hosts: 1, threads: 2}, beta: {hosts: 1, threads: 1}}
links: [{between: [alpha, beta], latency: 10ms}]
lanes:
)",
                      [](paths::Thread& thread) {
                        groups::Group world(thread);
                        const std::vector<std::int64_t> mine(100, 1);
                        std::vector<std::int64_t> all(100);
                        for (int i = 0; i < iterations; ++i) {
                          groups::Started started =
                              world.start(groups::allreduce(mine, all, "sum"));
                          thread.sleep_for(thread.rank() == 0 ? 40ms : 3ms);
                          started.wait();
                        }
                      });
  const TimeReport time = run.report().report.time;
  INFO(to_text(time, 20));
  constexpr std::int64_t ms = 1'000'000;
  CHECK(nanos_of(time.rows, TimeCause::computing, "allreduce world") > 0);
  CHECK(nanos_of(time.rows, TimeCause::computing, "") -
            nanos_of(time.rows, TimeCause::computing, "allreduce world") ==
        iterations * (40 + 3 + 3) * ms);
  CHECK(time.unknown_share == 0);
}

TEST_CASE("attribution: operations that were started and never waited for take no time") {
  const TracedRun run(R"(
clusters: {alpha: {hosts: 1, threads: 1}, beta: {hosts: 1, threads: 1}}
links: [{between: [alpha, beta], latency: 10ms}]
collectives: {sum: {operation: sum, template: f64}}
)",
                      [](paths::Thread& thread) {
                        for (int i = 0; i < 20; ++i) {
                          { const auto dropped = thread.path("sum").start(base::Payload::of(1.0)); }
                          thread.sleep_for(1ms);
                        }
                        thread.path("sum").operations().wait_for_started();
                      });
  const TimeReport time = run.report().report.time;
  INFO(to_text(time, 20));
  CHECK(time.unknown_share == 0);
  CHECK(all_of_link(time.rows, "") == 0);
}

TEST_CASE("attribution: iterations end where the program marks them") {
  const TracedRun run(R"(
clusters: {here: {hosts: 3, threads: 1}}
collectives: {sum: {operation: sum, template: f64}}
)",
                      [](paths::Thread& thread) {
                        for (int i = 0; i < 12; ++i) {
                          // An iteration has one, two or three calls.
                          for (int call = 0; call < 1 + i % 3; ++call) {
                            thread.sleep_for(1ms);
                            thread.path("sum").move_value(1.0);
                          }
                          thread.mark_iteration();
                        }
                      });
  const auto iterations = run.report().report.time.iterations;
  CHECK(iterations.rule == "mark");
  CHECK(iterations.count == 12);
  CHECK(iterations.length.min == 1'000'000);
  CHECK(iterations.length.max == 3'000'000);
}
