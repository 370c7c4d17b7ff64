// SPDX-License-Identifier: Apache-2.0
// tests/paths/findings_slow.cpp — findings about many runs with natural variation: no finding for a
// run without a cause of delay, and the right finding for a run with a cause.
//
// PATHS_SEEDS sets the number of runs, PATHS_SEED the first seed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>

#include "runtime/random.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/traced_run.hpp"

namespace {

using eventspace::Finding;
using eventspace::FindingKind;
using eventspace::Report;
using runtime::Random;
using test_support::TracedRun;

constexpr int iterations = 300;
constexpr double computing_nanos = 10e6;

/// Drawn properties of a run without a cause of delays.
struct Sound {
  std::string config;
  double variation = 0;  ///< standard deviation of computations, as a share of their mean
  std::uint64_t seed = 0;
};

/// Returns a run with clusters, hosts, threads, latencies, an algorithm and a variation at random.
Sound draw(std::uint64_t seed, bool has_slow_link = false) {
  constexpr std::array<const char*, 6> algorithms = {"sequential",  "magpie",   "best",
                                                     "conditional", "lagged:2", "periodic:10"};
  constexpr std::array<const char*, 4> names = {"alpha", "beta", "gamma", "delta"};
  Random random(seed);
  const std::int64_t clusters = random.between(2, 4);
  const std::int64_t hosts = random.between(2, 4);
  const std::int64_t threads = random.between(1, 2);
  Sound sound;
  sound.seed = seed;
  sound.config = "clusters:\n";
  for (std::int64_t i = 0; i < clusters; ++i)
    sound.config += fmt::format("  {}: {{hosts: {}, threads: {}}}\n",
                                names[static_cast<std::size_t>(i)], hosts, threads);
  const std::int64_t latency_us = random.between(1000, 5000);
  const auto name = [&](std::int64_t number) { return names[static_cast<std::size_t>(number)]; };
  sound.config += "links:\n";
  for (std::int64_t i = 0; i < clusters; ++i)
    for (std::int64_t j = 0; j < clusters; ++j) {
      if (i == j) continue;
      const bool is_slow = has_slow_link && i == 1 && j == 0;
      sound.config += fmt::format("  - {{from: {}, to: {}, latency: {}us, bandwidth: 1Gbit}}\n",
                                  name(i), name(j), is_slow ? latency_us * 115 / 100 : latency_us);
    }
  const char* algorithm =
      has_slow_link ? "sequential" : algorithms[static_cast<std::size_t>(random.between(0, 5))];
  sound.config += fmt::format(
      "collectives:\n  sum: {{operation: sum, template: f64, algorithm: \"{}\"{}}}\n", algorithm,
      std::string(algorithm) == "conditional"
          ? ", condition: {greater: 15.5}, contributions: non_negative"
          : "");
  sound.variation = 0.002 * static_cast<double>(random.between(1, 10));
  return sound;
}

/// Returns the nanoseconds by which a thread's computation before the given iteration is longer.
using More = std::function<double(const paths::Thread&, int)>;

Report report_of(const Sound& sound, const More& more) {
  return TracedRun(sound.config,
                   [&](paths::Thread& thread) {
                     Random random(sound.seed << 20 | thread.rank(), 1);
                     for (int i = 0; i < iterations; ++i) {
                       const double radius = std::sqrt(-2 * std::log(1 - random.unit()));
                       const double normal =
                           radius * std::cos(2 * std::numbers::pi * random.unit());
                       const double nanos = computing_nanos * (1 + sound.variation * normal);
                       thread.sleep_for(base::Nanos(std::llround(nanos + more(thread, i))));
                       thread.path("sum").move_value(1.0);
                     }
                   })
      .report()
      .report;
}

/// Returns the number of runs whose reports contain no finding for which `is` is true.
std::uint64_t missed(std::uint64_t first, std::uint64_t seeds, const More& more,
                     const std::function<bool(const Finding&)>& is, std::string& why,
                     bool has_slow_link = false) {
  std::uint64_t count = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    const Report report = report_of(draw(seed, has_slow_link), more);
    if (std::any_of(report.findings.begin(), report.findings.end(), is)) continue;
    ++count;
    why += fmt::format("seed {}:\n{}\n", seed, to_text(report, 0));
  }
  return count;
}

std::uint64_t first_seed() { return test_support::from_environment("PATHS_SEED", 1); }
std::uint64_t seeds_of_fault() { return test_support::from_environment("PATHS_SEEDS", 10); }

bool is_first_of_alpha(const Finding& finding) {
  return finding.place.host == "alpha-0" || finding.thread == "alpha-0/0";
}

}  // namespace

TEST_CASE("findings: runs with natural variation alone have none") {
  const std::uint64_t seeds = test_support::from_environment("PATHS_SEEDS", 60);
  std::uint64_t named = 0;
  std::string why;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + seeds; ++seed) {
    const Sound sound = draw(seed);
    const Report report = report_of(sound, [](const paths::Thread&, int) { return 0.0; });
    if (report.findings.empty()) continue;
    ++named;
    why += fmt::format("seed {}, variation {}\n{}", seed, sound.variation, sound.config);
    for (const Finding& finding : report.findings) why += finding.sentence + '\n';
  }
  INFO(why);
  CHECK(named == 0);
  WARN(fmt::format("{} of {} runs without a cause name something", named, seeds));
}

TEST_CASE("findings: a host that is 5% slower is named in each run") {
  std::string why;
  const std::uint64_t count = missed(
      first_seed(), seeds_of_fault(),
      [](const paths::Thread& thread, int) {
        return thread.host().name() == "alpha-0" ? 0.05 * computing_nanos : 0;
      },
      [](const Finding& finding) {
        return finding.kind == FindingKind::slow_host && is_first_of_alpha(finding) &&
               std::abs(finding.figure - 5) < 1;
      },
      why);
  INFO(why);
  CHECK(count == 0);
}

TEST_CASE("findings: a slow link is named in each run") {
  std::string why;
  const std::uint64_t count = missed(
      first_seed(), seeds_of_fault(), [](const paths::Thread&, int) { return 0.0; },
      [](const Finding& finding) {
        return finding.kind == FindingKind::slow_link && finding.from == "beta" &&
               finding.to == "alpha" && std::abs(finding.figure - 1.15) < 0.01;
      },
      why, true);
  INFO(why);
  CHECK(count == 0);
}

TEST_CASE("findings: a stall of 2% of the run is named in each run") {
  std::string why;
  const std::uint64_t count = missed(
      first_seed(), seeds_of_fault(),
      [](const paths::Thread& thread, int i) {
        return thread.rank() == 0 && i == iterations / 3 ? 0.02 * iterations * 2 * computing_nanos
                                                         : 0;
      },
      [](const Finding& finding) {
        return finding.kind == FindingKind::stall && is_first_of_alpha(finding);
      },
      why);
  INFO(why);
  CHECK(count == 0);
}

TEST_CASE("findings: spikes of a thread are named in each run") {
  std::string why;
  const std::uint64_t count = missed(
      first_seed(), seeds_of_fault(),
      [](const paths::Thread& thread, int i) {
        return thread.rank() == 0 && i % 10 == 5 ? 0.3 * computing_nanos : 0;
      },
      [](const Finding& finding) {
        return finding.kind == FindingKind::noisy_thread && is_first_of_alpha(finding);
      },
      why);
  INFO(why);
  CHECK(count == 0);
}
