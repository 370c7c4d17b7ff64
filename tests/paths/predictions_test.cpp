// SPDX-License-Identifier: Apache-2.0
// tests/paths/predictions_test.cpp — predicted times of runs with a change of a setting, compared
// with real runs with that setting.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/payload.hpp"
#include "tests/support/traced_run.hpp"

namespace {

using namespace std::chrono_literals;
using eventspace::Questions;
using eventspace::TimeReport;
using eventspace::WhatIfReport;
using test_support::TracedRun;

/// Settings of a config. Each prediction changes one of them.
struct Settings {
  std::string latency = "10ms";
  std::string bandwidth = "1Mbit";
  double speed_of_beta = 1;
};

std::string config_of(const Settings& settings, const std::string& algorithm) {
  return fmt::format(R"(
clusters:
  alpha: {{hosts: 2, threads: 1}}
  beta: {{hosts: 1, threads: 2, speed: {}}}
links: [{{between: [alpha, beta], latency: {}, bandwidth: {}}}]
collectives: {{sum: {{operation: sum, template: "f64[200]", algorithm: "{}"}}}}
exchanges: {{rows: {{template: "f64[]"}}}}
)",
                     settings.speed_of_beta, settings.latency, settings.bandwidth, algorithm);
}

/// Sends a row to each neighbour, computes, receives the rows, and takes part in a sum.
void solve(paths::Thread& thread) {
  const std::uint32_t rank = thread.rank();
  const std::uint32_t last = thread.threads() - 1;
  const std::vector<double> row(200, 1.0);
  const pastset::Template row_template = *pastset::Template::parse("f64[]");
  const auto payload = [&] {
    pastset::TupleWriter tuple(row_template);
    return tuple.put_array(std::span(row)).payload();
  };
  for (int i = 0; i < 25; ++i) {
    if (rank > 0) thread.path(fmt::format("rows.{}.from_next", rank - 1)).send(payload());
    if (rank < last) thread.path(fmt::format("rows.{}.from_previous", rank + 1)).send(payload());
    const auto nanos = static_cast<std::int64_t>((2e6 + 1e6 * rank) / thread.speed());
    thread.sleep_for(base::Nanos(nanos));
    for (const char* const side : {"from_previous", "from_next"}) {
      if (rank == (side == std::string("from_previous") ? 0 : last)) continue;
      paths::Path& in = thread.path(fmt::format("rows.{}.{}", rank, side));
      in.axe(in.observe().number);
    }
    thread.path("sum").move(base::Payload::of(std::vector<double>(200, 1.0)));
  }
}

TimeReport asked(const TracedRun& run, const Questions& questions) {
  const auto trace = run.trace();
  eventspace::AnalysisOptions options;
  options.questions = questions;
  return eventspace::analyze_trace(trace, eventspace::HostClocks::own(trace), options).report.time;
}

}  // namespace

TEST_CASE("predictions: a run with a change takes as long as the run that really has it") {
  const std::string algorithm = GENERATE("sequential", "magpie", "exact", "periodic:5");
  const auto [change, settings] = GENERATE(values<std::pair<std::string, Settings>>({
      {"link:alpha,beta.latency=3ms", {.latency = "3ms"}},
      {"link:*.latency=40ms", {.latency = "40ms"}},
      {"link:alpha,beta.latency=+5ms", {.latency = "15ms"}},
      {"link:beta,alpha.bandwidth=100kbit", {.bandwidth = "100kbit"}},
      {"link:*.bandwidth=1Gbit", {.bandwidth = "1Gbit"}},
      {"cluster:beta.speed=0.1", {.speed_of_beta = 0.1}},
      {"cluster:beta.speed=4", {.speed_of_beta = 4}},
  }));
  const TracedRun before(config_of({}, algorithm), solve);
  const TracedRun really(config_of(settings, algorithm), solve);
  const TimeReport time = asked(before, {.changes = {change}});
  INFO(algorithm << ", " << change << '\n' << to_text(time, 20));
  REQUIRE(time.what_if);
  const std::int64_t run_nanos = really.report().report.time.run_nanos;
  CHECK(std::abs(time.what_if->run_nanos - run_nanos) <= run_nanos / 200);
  CHECK(time.what_if->saved_nanos == time.run_nanos - time.what_if->run_nanos);
}

TEST_CASE("predictions: a schedule waits for each message that its result needs") {
  const auto config = [&](const std::string& latency) {
    return fmt::format(R"(
clusters:
  alpha: {{hosts: 1, threads: 1}}
  beta: {{hosts: 4, threads: 1}}
  gamma: {{hosts: 1, threads: 1}}
links:
  - {{between: [alpha, beta], latency: 10ms}}
  - {{between: [alpha, gamma], latency: 1us}}
  - {{between: [beta, gamma], latency: {}}}
collectives: {{sum: {{operation: sum, template: f64, algorithm: recursive_doubling}}}}
)",
                       latency);
  };
  // Another thread is the last one in each iteration. Before the change, messages of gamma arrive
  // before others that the same step waits for.
  const auto compute = [](paths::Thread& thread) {
    for (std::uint32_t i = 0; i < 60; ++i) {
      thread.sleep_for(20ms + 1ms * ((7 * thread.rank() + 5 * i) % 11));
      thread.path("sum").move_value(1.0);
    }
  };
  const std::string latency = GENERATE("1us", "5ms", "21ms", "60ms");
  const TracedRun before(config("1us"), compute), really(config(latency), compute);
  const TimeReport time = asked(before, {.changes = {"link:beta,gamma.latency=" + latency}});
  INFO(latency << '\n' << to_text(time, 20));
  REQUIRE(time.what_if);
  const std::int64_t run_nanos = really.report().report.time.run_nanos;
  CHECK(std::abs(time.what_if->run_nanos - run_nanos) <= run_nanos / 100);
}

TEST_CASE("predictions: a push of a host that stops waits for the end of the host's threads") {
  const std::string algorithm = GENERATE("conditional:demand", "conditional:subscribe:16");
  const std::string config = fmt::format(R"(
clusters:
  alpha: {{hosts: 2, threads: 1}}
  beta: {{hosts: 2, threads: 1}}
links: [{{between: [alpha, beta], latency: 7300us, bandwidth: 100Mbit}}]
collectives:
  sum:
    operation: sum
    template: f64
    algorithm: "{}"
    condition: {{less: 0.01}}
    contributions: non_negative
)",
                                         algorithm);
  // Each cluster decides all rounds but the last one alone. In the last round alpha needs the value
  // of beta, which is slow. At its end, alpha pushes the value for which beta waits.
  const auto program = [](std::chrono::milliseconds slow) {
    return [slow](paths::Thread& thread) {
      for (int i = 0; i < 50; ++i) {
        thread.sleep_for(thread.rank() == 3 ? slow : 10ms);
        thread.path("sum").move_value(i < 49 ? 1.0 : 0.0);
      }
    };
  };
  const TracedRun before(config, program(15ms)), really(config, program(10ms));
  const TimeReport time = asked(before, {.without = {1}});
  INFO(algorithm << '\n' << to_text(time, 20));
  REQUIRE(time.what_if);
  // The prediction keeps the messages, so it may differ by the latency of one message.
  const std::int64_t run_nanos = really.report().report.time.run_nanos;
  CHECK(std::abs(time.what_if->run_nanos - run_nanos) <= 7'400'000);
  CHECK_THAT(time.headline, Catch::Contains("beta-1/0"));
}

TEST_CASE("predictions: several changes are made together") {
  const TracedRun before(config_of({}, "magpie"), solve);
  const TracedRun really(
      config_of({.latency = "1ms", .bandwidth = "10Mbit", .speed_of_beta = 0.5}, "magpie"), solve);
  const TimeReport time =
      asked(before, {.changes = {"link:alpha>beta.latency=1ms", "link:beta>alpha.latency=1ms",
                                 "link:*.bandwidth=10Mbit", "thread:beta-0/0.speed=0.5",
                                 "thread:beta-0/1.speed=0.5"}});
  REQUIRE(time.what_if);
  const std::int64_t run_nanos = really.report().report.time.run_nanos;
  CHECK(std::abs(time.what_if->run_nanos - run_nanos) <= run_nanos / 200);
}

TEST_CASE("predictions: all mistakes in changes are named at once, with what was expected") {
  const TracedRun run(config_of({}, "magpie"), [](paths::Thread&) {});
  const auto structure = run.trace().structure;
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {"link:alpha,betta.latency=1ms", "did you mean 'beta'?"},
      {"link:alpha>alpha.latency=1ms", "two different clusters"},
      {"link:alpha.latency=1ms", "two clusters, such as A>B"},
      {"link:*.speed=2", "expected latency or bandwidth"},
      {"link:*.latency=fast", "expected a time"},
      {"link:*.bandwidth=0", "a bandwidth above 0"},
      {"host:alpha-7.speed=2", "no host 'alpha-7'"},
      {"host:alpha-0.speed=0", "a number from 1e-6"},
      {"host:alpha-0.speed=-1", "a number from 1e-6"},
      {"host:alpha-0.speed=1e-12", "a number from 1e-6"},
      {"hosts:alpha-0.speed=1", "did you mean 'host'?"},
      {"thread:beta-0.speed=1", "no thread 'beta-0'"},
      {"algorithm=magpie", "run the program with this setting"},
      {"", "expected link:A>B.latency"},
      {"=:.", "expected link:A>B.latency"},
      {"link:.latency=1ms", "two clusters"},
  };
  Questions questions;
  for (const auto& [text, expected] : mistakes) questions.changes.push_back(text);
  try {
    check_questions(questions, structure);
    FAIL("the mistakes were accepted");
  } catch (const base::ConfigError& error) {
    REQUIRE(error.mistakes().size() == mistakes.size());
    for (std::size_t place = 0; place < mistakes.size(); ++place) {
      INFO(mistakes[place].first);
      CHECK_THAT(error.mistakes()[place].message, Catch::Contains(mistakes[place].second));
    }
  }
}

TEST_CASE("predictions: a change of something that the run does not show is refused") {
  const TracedRun run(R"(
clusters: {alpha: {hosts: 1, threads: 1}, beta: {hosts: 1, threads: 1}}
links: [{between: [alpha, beta], latency: 10ms}]
collectives: {sum: {operation: sum, template: f64}}
)",
                      [](paths::Thread& thread) { thread.path("sum").move_value(1.0); });
  CHECK_THROWS_WITH(asked(run, {.changes = {"link:*.bandwidth=1Mbit"}}),
                    Catch::Contains("crossed a link with a declared bandwidth"));
  CHECK_THROWS_WITH(asked(run, {.changes = {"network:alpha.latency=1ms"}}),
                    Catch::Contains("no message with a latency"));
  CHECK_THROWS_WITH(asked(run, {.without = {1}}), Catch::Contains("the report has none"));
}

TEST_CASE("predictions: a change that would make a latency negative is refused") {
  const TracedRun run(config_of({}, "magpie"), solve);
  CHECK_THROWS_WITH(asked(run, {.changes = {"link:alpha>beta.latency=-50ms"}}),
                    Catch::Contains("link from alpha to beta: expected a change of -10ms or "
                                    "more, because the latency is 10ms, found -50ms"));
  CHECK(asked(run, {.changes = {"link:alpha>beta.latency=-10ms"}}).what_if);
}

TEST_CASE("predictions: a network within a cluster keeps its bandwidth if its latency changes") {
  const auto config = [](const std::string& latency) {
    return fmt::format(R"(
clusters: {{here: {{hosts: 3, threads: 1, network: {{latency: {}, bandwidth: 1Mbit}}}}}}
collectives: {{sum: {{operation: sum, template: "f64[200]"}}}}
)",
                       latency);
  };
  const auto program = [](paths::Thread& thread) {
    for (int i = 0; i < 20; ++i)
      thread.path("sum").move(base::Payload::of(std::vector<double>(200, 1.0)));
  };
  const TracedRun run(config("50us"), program);
  const TimeReport time = asked(run, {.changes = {"network:*.latency=1050us"}});
  REQUIRE(time.what_if);
  CHECK(time.what_if->run_nanos ==
        TracedRun(config("1050us"), program).report().report.time.run_nanos);
}

TEST_CASE("predictions: two changes of one latency, one bandwidth or one speed are refused") {
  const TracedRun run(config_of({}, "magpie"), solve);
  const auto [one, other] = GENERATE(table<std::string, std::string>(
      {{"link:*.latency=1ms", "link:alpha,beta.latency=+2ms"},
       {"link:*.bandwidth=1Gbit", "link:alpha>beta.bandwidth=2Gbit"},
       {"host:alpha-0.speed=2", "cluster:alpha.speed=3"}}));
  CHECK_THROWS_WITH(asked(run, {.changes = {one, other}}),
                    Catch::Contains("another change concerns it, too"));
}

TEST_CASE("predictions: the run without a finding is the run that costs that much less") {
  const TracedRun run(R"(
clusters: {here: {hosts: 5, threads: 1}}
collectives: {sum: {operation: sum, template: f64}}
)",
                      [](paths::Thread& thread) {
                        for (int i = 0; i < 60; ++i) {
                          thread.sleep_for(thread.rank() == 3 ? 15ms : 10ms);
                          thread.path("sum").move_value(1.0);
                        }
                      });
  const TimeReport time = asked(run, {.without = {1}});
  REQUIRE(time.what_if);
  CHECK(time.what_if->run_nanos == 600'000'000);
  CHECK(time.what_if->saved_nanos == 300'000'000);
  CHECK_THAT(time.what_if->largest, Catch::StartsWith("computing"));
}

TEST_CASE("predictions: sensitivities are those of the runs with these changes") {
  const TracedRun run(config_of({}, "magpie"), solve);
  const TimeReport time = asked(run, {.asks_for_sensitivities = true});
  INFO(to_text(time, 20));
  const auto longer = [&](const Settings& settings) {
    return TracedRun(config_of(settings, "magpie"), solve).report().report.time.run_nanos -
           time.run_nanos;
  };
  const auto is_near = [&](std::int64_t one, std::int64_t other) {
    return std::abs(one - other) <= time.run_nanos / 500;
  };
  bool has_link = false;
  bool has_cluster = false;
  for (const eventspace::Sensitivity& one : time.sensitivities) {
    if (one.object == "link alpha, beta") {
      has_link = true;
      CHECK(one.latency_nanos == 10e6);
      CHECK(is_near(one.more_nanos, longer({.latency = "11ms"})));
      CHECK(is_near(one.less_nanos, longer({.latency = "9ms"})));
      REQUIRE(one.half_nanos);
      CHECK(is_near(*one.half_nanos, longer({.bandwidth = "500kbit"})));
      CHECK(is_near(*one.double_nanos, longer({.bandwidth = "2Mbit"})));
      REQUIRE(one.tolerance);
      const std::int64_t lost = longer(
          {.latency = fmt::format("{}ns", static_cast<std::int64_t>(10e6 + *one.tolerance))});
      CHECK(is_near(lost, time.run_nanos / 100));
    }
    if (one.object == "cluster beta") {
      has_cluster = true;
      CHECK(is_near(one.more_nanos, longer({.speed_of_beta = 1 / 1.01})));
      CHECK(is_near(one.less_nanos, longer({.speed_of_beta = 1 / 0.99})));
    }
  }
  CHECK(has_link);
  CHECK(has_cluster);
}
