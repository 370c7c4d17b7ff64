// SPDX-License-Identifier: Apache-2.0
// tests/paths/run_plan_test.cpp — random programs, which must end, agree and be reproducible.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <catch2/catch.hpp>

#include "runtime/random.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/sim.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;
using runtime::Random;

constexpr int iterations = 4;

std::string random_network(Random& random) {
  std::string text = fmt::format("{{latency: {}us", 1 + random.below(3000));
  if (random.chance(0.3)) text += ", bandwidth: 1Mbit";
  return text + "}";
}

struct RandomConfig {
  std::string text;
  bool has_bulk_element = false;
};

std::string random_clusters(Random& random, std::uint64_t clusters) {
  std::string text = "clusters:\n";
  for (std::uint64_t i = 0; i < clusters; ++i) {
    text +=
        fmt::format("  c{}: {{hosts: {}, threads: {}", i, 1 + random.below(5), 1 + random.below(4));
    if (random.chance(0.5)) text += fmt::format(", gateway: gate{}", i);
    if (random.chance(0.5)) text += ", network: " + random_network(random);
    if (random.chance(0.2)) text += ", broadcast_delay: 2ms";
    text += "}\n";
  }
  text += clusters > 1 ? "links:\n" : "";
  for (std::uint64_t a = 0; a < clusters; ++a)
    for (std::uint64_t b = a + 1; b < clusters; ++b)
      text +=
          fmt::format("  - {{between: [c{}, c{}], latency: {}ms}}\n", a, b, 1 + random.below(30));
  return text;
}

/// Returns a random config. Configs with the same seed differ only in `algorithm`.
std::string random_config(std::uint64_t seed, const std::string& algorithm) {
  Random random(seed);
  std::string text =
      fmt::format("network: {{connection: {}}}\n", random.chance(0.5) ? "shared" : "per_path");
  text += random_clusters(random, 1 + random.below(4));
  text += fmt::format(
      "collectives:\n  sum: {{operation: {}, template: f64, algorithm: {}, "
      "condition: {{greater: {}}}, contributions: non_negative",
      random.chance(0.5) ? "sum" : "max", algorithm, random.below(40));
  if (random.chance(0.4)) text += fmt::format(", fan_out: {}", 2 + random.below(3));
  if (random.chance(0.2)) text += ", instrument: true";
  text += "}\n  meet: {kind: barrier}\n";
  text += "elements: {notes: {host: c0-0, template: f64, keep_newest: 3, reach: all}}\n";
  return text;
}

struct Trial {
  std::vector<std::vector<double>> values;  // indexed by rank
  std::vector<std::vector<paths::Condition>> conditions;
  std::vector<std::vector<base::Nanos>> times;
  SimResult run;
};

Trial try_out(const std::string& text, std::uint64_t seed) {
  const Sim sim(text);
  Trial trial;
  trial.values.resize(sim.plan().thread_count());
  trial.conditions.resize(sim.plan().thread_count());
  trial.times.resize(sim.plan().thread_count());
  trial.run = sim.run(
      [&](paths::Thread& thread) {
        const std::uint32_t rank = thread.rank();
        for (int i = 0; i < iterations; ++i) {
          thread.sleep_for(1us * thread.random().below(20'000));
          if (thread.random().chance(0.2)) thread.path("notes").push(base::Payload::of(1.0 * i));
          const double value = static_cast<double>(thread.random().below(1000)) / 100;
          const paths::Result result = thread.path("sum").move_value(value);
          trial.values[rank].push_back(result.partial<double>());
          trial.conditions[rank].push_back(result.condition);
          trial.times[rank].push_back(thread.now());
        }
        if (thread.random().chance(0.5)) thread.sleep_for(7ms);
        thread.path("meet").move({});
      },
      runtime::ClockKind::virtual_time, seed);
  return trial;
}

void check_same_for_all_threads(const Trial& trial) {
  for (std::size_t rank = 1; rank < trial.values.size(); ++rank) {
    if (trial.conditions[rank] != trial.conditions[0]) FAIL_CHECK("conditions differ at " << rank);
  }
}

}  // namespace

TEST_CASE("run_plan: random programs end and all algorithms agree and a seed repeats its run") {
  for (std::uint64_t seed = 1; seed <= or_fewer(200); ++seed) {
    const Trial sequential = try_out(random_config(seed, "sequential"), seed);
    for (const std::string algorithm : {"sequential", "magpie", "conditional"}) {
      const std::string text = random_config(seed, algorithm);
      const Trial trial = try_out(text, seed);
      INFO("seed " << seed << "\n" << text);
      REQUIRE(trial.run.broke == "");
      REQUIRE(trial.run.failures.empty());
      check_same_for_all_threads(trial);
      REQUIRE(trial.conditions == sequential.conditions);
      if (algorithm == "conditional") continue;
      for (const auto& values : trial.values) REQUIRE(values == sequential.values[0]);
    }
    if (seed % 4 != 0) continue;
    const std::string algorithm = seed % 8 == 0 ? "conditional" : "magpie";
    const Trial once = try_out(random_config(seed, algorithm), seed);
    const Trial again = try_out(random_config(seed, algorithm), seed);
    INFO("seed " << seed << ", again");
    REQUIRE(once.times == again.times);
    REQUIRE(once.values == again.values);
    REQUIRE(once.run.end == again.run.end);
    REQUIRE(once.run.wan_of("sum").messages == again.run.wan_of("sum").messages);
  }
}

TEST_CASE("run_plan: the expanded text of a config is the same program") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const std::string text = random_config(seed, seed % 2 == 0 ? "conditional" : "sequential");
    INFO("seed " << seed << "\n" << text);
    const Sim sim(text);
    const Sim expanded(sim.low_level());
    CHECK(expanded.plan().digest == sim.plan().digest);
    const Trial high = try_out(text, seed);
    const Trial low = try_out(sim.low_level(), seed);
    CHECK(high.times == low.times);
    CHECK(high.values == low.values);
  }
}

TEST_CASE("run_plan: random programs with a throwing wrapper end without a deadlock") {
  const std::uint64_t programs = or_fewer(150);
  std::uint64_t errors = 0;
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    Random random(seed, 77);
    const std::string algorithm =
        std::vector<std::string>{"sequential", "magpie", "conditional"}[random.below(3)];
    const std::string text = random_config(seed, algorithm);
    const Sim plain(text);
    const auto places = plain.places();
    const Sim::Place& place = places[random.below(places.size())];
    const Sim sim =
        plain.with(place, "thrower",
                   fmt::format("{{way: {}, round: {}}}", random.chance(0.5) ? "down" : "up",
                               random.below(iterations)));
    INFO("seed " << seed << ", " << place.text << "\n" << text);
    const SimResult run = sim.run([&](paths::Thread& thread) {
      for (int i = 0; i < iterations; ++i) {
        thread.sleep_for(1us * thread.random().below(5000));
        const double value = static_cast<double>(thread.random().below(1000)) / 100;
        errors += contribute(thread, "sum", value).is_error ? 1 : 0;
      }
    });
    REQUIRE(run.broke == "");
    for (const std::string& failure : run.failures)
      CHECK_THAT(failure, Catch::Contains(thrown_text));
  }
  CHECK(errors > programs);
}
