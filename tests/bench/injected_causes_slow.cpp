// SPDX-License-Identifier: Apache-2.0
// tests/bench/injected_causes_slow.cpp — comparison of the injected causes of delay with the causes
// that the report names.
//
// Each run is a whole run on the virtual clock, from a config to the analysis of its trace. Causes
// have random places and sizes. PATHS_SEEDS sets the number of runs (default 60). PATHS_SEED sets
// the first seed.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "bench/noise_allreduce/noise_allreduce.hpp"
#include "eventspace/analysis/analyze_trace.hpp"
#include "runtime/random.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/read_config.hpp"

namespace {

using eventspace::FindingKind;

/// Sizes of injected or named causes, such as 1.2 for the cause "slow_host east-1".
using Causes = std::map<std::string, double>;

struct Drawn {
  std::string config;
  bench::NoiseOptions options;
  Causes causes;
};

class Drawing {
 public:
  explicit Drawing(std::uint64_t seed) : random_(seed) {}

  Drawn draw() {
    clusters_.resize(static_cast<std::size_t>(random_.between(3, 4)));
    hosts_ = random_.between(3, 5);
    threads_ = random_.between(1, 2);
    latency_ = random_.between(5, 20);
    drawn_.options.iterations = 1000;
    drawn_.options.variation_percent = 0.5;
    if (random_.chance(0.5)) slow_host();
    if (random_.chance(0.5)) noisy_thread();
    if (random_.chance(0.5)) late_broadcast();
    const bool is_slow_link = random_.chance(0.5);
    std::string config = "clusters:\n";
    for (std::size_t i = 0; i < clusters_.size(); ++i)
      config += fmt::format("  {}: {{hosts: {}, threads: {}{}}}\n", names[i], hosts_, threads_,
                            clusters_[i]);
    config += "links:\n" + links(is_slow_link) + "collectives:\n";
    drawn_.config = config + "  sum: {operation: sum, template: f64, algorithm: sequential}\n";
    return drawn_;
  }

 private:
  static constexpr const char* names[] = {"north", "east", "south", "west"};
  std::size_t cluster(std::int64_t first = 0) {
    return static_cast<std::size_t>(
        random_.between(first, static_cast<std::int64_t>(clusters_.size()) - 1));
  }
  std::string host() {
    return fmt::format("{}-{}", names[cluster()], random_.between(0, hosts_ - 1));
  }

  void slow_host() {
    const std::size_t where = cluster();
    const std::string name = fmt::format("{}-{}", names[where], random_.between(0, hosts_ - 1));
    const std::int64_t percent = random_.between(105, 150);
    clusters_[where] += fmt::format(", speed: {{{}: 100/{}}}", name, percent);
    drawn_.causes["slow_host " + name] = static_cast<double>(percent) / 100;
  }
  /// Adds noise that takes at least a hundredth of the thread's time. The noise occurs less often
  /// than the thread computes, because noise that delays nearly every computation looks the same as
  /// a slow thread.
  void noisy_thread() {
    const std::int64_t duration = random_.between(1, 10);
    const std::int64_t period = random_.between(80, std::min<std::int64_t>(300, 100 * duration));
    const std::string thread = fmt::format("{}/{}", host(), random_.between(0, threads_ - 1));
    drawn_.options.noise = {fmt::format("{}={}ms/{}ms", thread, duration, period)};
    drawn_.causes["noisy_thread " + thread] = static_cast<double>(duration) * 1e6;
  }
  void late_broadcast() {
    const std::size_t where = cluster(1);  // the tree's root is in the first cluster
    const std::int64_t delay = random_.between(2, 30);
    clusters_[where] += fmt::format(", broadcast_delay: {}ms", delay);
    drawn_.causes[fmt::format("late_broadcast sum.broadcast_delay.{}", names[where])] =
        static_cast<double>(delay) * 1e6;
  }
  std::string links(bool is_one_slow) {
    const std::size_t slow = cluster(1);
    const bool is_down = random_.chance(0.5);
    const double factor = static_cast<double>(random_.between(13, 40)) / 10;
    std::string text;
    for (std::size_t i = 0; i < clusters_.size(); ++i)
      for (std::size_t j = 0; j < clusters_.size(); ++j) {
        if (i == j) continue;
        double latency = static_cast<double>(latency_) * 1000;
        if (is_one_slow && (is_down ? i == slow && j == 0 : i == 0 && j == slow)) {
          latency *= factor;
          drawn_.causes[fmt::format("slow_link wan.{}.{}", names[i], names[j])] = factor;
        }
        text += fmt::format("  - {{from: {}, to: {}, latency: {:.0f}us}}\n", names[i], names[j],
                            latency);
      }
    return text;
  }

  runtime::Random random_;
  /// Names of the clusters. The names of hosts and threads begin with them.
  std::vector<std::string> clusters_;
  std::int64_t hosts_ = 0, threads_ = 0, latency_ = 0;
  Drawn drawn_;
};

eventspace::Report traced(const Drawn& drawn, std::uint64_t seed) {
  const test_support::Folder folder;
  const auto plan = std::make_shared<const paths::Plan>(
      test_support::read_config(drawn.config, test_support::traced()));
  const paths::RunOptions options = {
      .clock = runtime::ClockKind::virtual_time, .seed = seed, .trace = {folder.file("trace"), {}}};
  bench::NoiseAllreduce noise(drawn.options);
  noise.prepare(*plan, options);
  const auto failures = paths::run_plan(plan, wrappers::all_kinds(), options,
                                        [&](paths::Thread& thread) { noise.run(thread); });
  REQUIRE(failures == std::vector<std::string>());
  const eventspace::TraceDirectory trace(folder.path() / "trace");
  return eventspace::analyze_trace(trace, eventspace::HostClocks::own(trace)).report;
}

Causes named(const eventspace::Report& report) {
  Causes causes;
  for (const eventspace::Finding& finding : report.findings) {
    double figure = finding.figure;
    std::string where = finding.place.wrapper;
    if (finding.kind == FindingKind::slow_host) {
      where = finding.place.host;
      figure = 1 + figure / 100;
    }
    if (finding.kind == FindingKind::noisy_thread) where = finding.thread;
    causes[fmt::format("{} {}", finding_name(finding.kind), where)] = figure;
  }
  return causes;
}

std::string text(const Causes& causes) {
  std::string all;
  for (const auto& [cause, figure] : causes) all += fmt::format("{} ({:.4g}); ", cause, figure);
  return all;
}

/// Returns whether the size of a cause that was found agrees with the injected size. Both may
/// differ a little: compute times vary by half a percent, and only time above the median counts as
/// noise.
bool is_near(double found, double injected) {
  return std::abs(found - injected) <= 0.05 * injected;
}

}  // namespace

TEST_CASE("injected causes: a report names exactly the injected causes with their figures") {
  const std::uint64_t seeds = test_support::from_environment("PATHS_SEEDS", 60);
  const std::uint64_t first = test_support::from_environment("PATHS_SEED", 1);
  std::uint64_t with_invented = 0, missed = 0, wrong_figures = 0, injected = 0;
  std::string all;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    const Drawn drawn = Drawing(seed).draw();
    const Causes found = named(traced(drawn, seed));
    std::uint64_t missed_here = 0;
    bool are_figures_right = true;
    for (const auto& [cause, figure] : drawn.causes) {
      const auto one = found.find(cause);
      if (one == found.end())
        ++missed_here;
      else
        are_figures_right = are_figures_right && is_near(one->second, figure);
    }
    const bool has_invented = std::any_of(found.begin(), found.end(), [&](const auto& one) {
      return !drawn.causes.contains(one.first);
    });
    injected += drawn.causes.size();
    missed += missed_here;
    with_invented += has_invented;
    wrong_figures += !are_figures_right;
    if (missed_here == 0 && !has_invented && are_figures_right) continue;
    all += fmt::format("seed {}\n  injected {}\n  named    {}\n", seed, text(drawn.causes),
                       text(found));
  }
  INFO(all);
  const std::string summary = fmt::format(
      "{} causes in {} runs; {} missed; {} runs with an invented one, {} with a wrong figure",
      injected, seeds, missed, with_invented, wrong_figures);
  INFO(summary);
  CHECK(with_invented * 100 <= seeds);
  CHECK(missed * 100 <= 2 * injected);
  // A correctly named cause may have a wrong figure. Noise that occurs at the same point of every
  // iteration can partly fall into a wait of the thread. The part of the noise that delays the
  // computation can then be as short as the natural variation of computations.
  CHECK(wrong_figures * 100 <= 3 * seeds);
  if (std::getenv("PATHS_SEEDS") != nullptr) WARN(summary << '\n' << all);
}
