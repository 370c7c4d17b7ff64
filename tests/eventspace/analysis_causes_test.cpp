// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/analysis_causes_test.cpp — random causes of delays, and whether the analysis
// names them.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <set>
#include <string>

#include "eventspace/analysis/analysis.hpp"
#include "eventspace/analysis/diagnosis/findings.hpp"
#include "runtime/random.hpp"
#include "tests/eventspace/sample_run.hpp"
#include "tests/support/environment.hpp"

namespace {

using namespace eventspace;
using runtime::Random;
using sample::ms;
using sample::us;

/// Returns a normally distributed random number with mean 0 and deviation 1 (Box and Muller 1958).
/// Calls with equal arguments return the same number.
double normal(std::uint64_t seed, std::uint64_t stream) {
  Random random(seed, stream);
  const double radius = std::sqrt(-2 * std::log(1 - random.unit()));
  return radius * std::cos(2 * std::numbers::pi * random.unit());
}

class Drawn {
 public:
  explicit Drawn(std::uint64_t seed) : random_(seed) {
    const std::vector<std::string> known = {"alpha", "beta", "gamma", "delta"};
    options.clusters.assign(known.begin(), known.begin() + random_.between(2, 4));
    options.hosts = static_cast<std::uint32_t>(random_.between(3, 6));
    options.threads = static_cast<std::uint32_t>(random_.between(1, 3));
    options.wan = random_.between(1, 20) * ms;
    options.lan = random_.between(5, 200) * us;
    const double sigma = 0.005 * static_cast<double>(options.computation);
    options.jitter = [sigma, seed](std::uint32_t thread, std::uint64_t iteration) {
      return static_cast<std::int64_t>(sigma * normal(seed << 20 | thread, iteration));
    };
    iterations = static_cast<std::uint64_t>(random_.between(500, 1000));
    if (random_.chance(0.5)) slow_host();
    if (random_.chance(0.5)) noise();
    if (random_.chance(0.5)) slow_link();
    if (random_.chance(0.5)) late_broadcast();
  }

  sample::Options options;
  std::uint64_t iterations = 0;
  std::set<std::string> names;  ///< names of the causes

  /// Adds the noise to the causes that the analysis must name. Does nothing if the noise delayed no
  /// computation of its thread.
  void met(const sample::Run& run) {
    if (options.noise.empty()) return;
    noise_met = run.noise_met(options.noise[0].thread);
    if (noise_met > 0) names.insert("noisy_thread " + noisy_);
  }
  std::int64_t noise_met = 0;

 private:
  std::string cluster(std::int64_t first) {
    const auto last = static_cast<std::int64_t>(options.clusters.size()) - 1;
    return options.clusters[static_cast<std::size_t>(random_.between(first, last))];
  }
  void slow_host() {
    const std::string name =
        cluster(0) + "-" + std::to_string(random_.between(0, options.hosts - 1));
    options.slow_hosts[name] = static_cast<double>(random_.between(105, 150)) / 100;
    names.insert("slow_host " + name);
  }
  void noise() {
    const auto clusters = static_cast<std::int64_t>(options.clusters.size());
    const std::int64_t cluster = random_.between(0, clusters - 1);
    const std::int64_t host = random_.between(0, options.hosts - 1);
    const std::int64_t thread = random_.between(0, options.threads - 1);
    const auto rank =
        static_cast<std::uint32_t>((cluster * options.hosts + host) * options.threads + thread);
    const std::int64_t period = random_.between(20'000, 300'000) * us;
    options.noise = {
        {rank, random_.between(1'000, 10'000) * us, period, random_.between(0, period / us) * us}};
    noisy_ = options.clusters[static_cast<std::size_t>(cluster)] + "-" + std::to_string(host) +
             "/" + std::to_string(thread);
  }
  void slow_link() {
    const std::string other = cluster(1);
    const std::string name = random_.chance(0.5) ? "wan." + other + ".alpha" : "wan.alpha." + other;
    options.slow_links[name] = static_cast<double>(random_.between(130, 400)) / 100;
    names.insert("slow_link " + name);
  }
  void late_broadcast() {
    const std::string name = "sum.join." + cluster(0);
    options.late_replies[name] = random_.between(2, 30) * ms;
    names.insert("late_broadcast " + name);
  }

  std::string noisy_;
  Random random_;
};

Report analyse(Drawn& drawn) {
  sample::Run run(drawn.options);
  Report report = sample::analyse_rounds(run, drawn.iterations);
  drawn.met(run);
  return report;
}

std::set<std::string> named_in(const Report& report) {
  std::set<std::string> names;
  for (const Finding& finding : report.findings) {
    const std::string& where = !finding.thread.empty()          ? finding.thread
                               : !finding.place.wrapper.empty() ? finding.place.wrapper
                                                                : finding.place.host;
    names.insert(std::string(finding_name(finding.kind)) + " " + where);
  }
  return names;
}

bool has_right_figure(const Finding& finding, const Drawn& drawn) {
  switch (finding.kind) {
    case FindingKind::slow_host: {
      const double factor = drawn.options.slow_hosts.at(finding.place.host);
      return finding.figure == Approx((factor - 1) * 100).margin(0.5);
    }
    case FindingKind::slow_link:
      return finding.figure ==
             Approx(drawn.options.slow_links.at(finding.place.wrapper)).epsilon(0.001);
    case FindingKind::noisy_thread: {
      // If a computation is longer than the period of the noise, the noise can occur twice in one
      // computation.
      const auto noise = static_cast<double>(drawn.options.noise[0].nanos);
      const bool twice = drawn.options.noise[0].period_nanos < drawn.options.computation;
      return finding.figure == Approx(noise).margin(0.3 * ms) ||
             (twice && finding.figure == Approx(2 * noise).margin(0.3 * ms));
    }
    case FindingKind::late_broadcast:
      return finding.figure ==
             Approx(static_cast<double>(drawn.options.late_replies.begin()->second)).epsilon(0.01);
    default: return false;
  }
}

std::string in_words(const std::set<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all.empty() ? "nothing" : all;
}

}  // namespace

TEST_CASE(
    "analysis: of causes drawn at random, exactly those in effect are named with their figures") {
  const std::uint64_t seeds = test_support::from_environment("PATHS_SEEDS", 40);
  const std::uint64_t first = test_support::from_environment("PATHS_SEED", 1);
  std::uint64_t wrong = 0;
  std::uint64_t wrong_figures = 0;
  std::uint64_t periods = 0;
  std::uint64_t wrong_periods = 0;
  std::string why;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    Drawn drawn(seed);
    const Report report = analyse(drawn);
    const std::set<std::string> named = named_in(report);
    if (named != drawn.names) {
      ++wrong;
      why += "seed " + std::to_string(seed) + ": " + in_words(drawn.names) + "; named " +
             in_words(named) + '\n';
      continue;
    }
    for (const ThreadReport& thread : report.threads) {
      if (thread.periods.empty() || thread.outliers < 30) continue;
      const auto period = static_cast<double>(drawn.options.noise.at(0).period_nanos);
      ++periods;
      wrong_periods +=
          thread.periods.size() != 1 || thread.periods[0].nanos != Approx(period).epsilon(0.01);
    }
    for (const Finding& finding : report.findings) {
      if (has_right_figure(finding, drawn)) continue;
      ++wrong_figures;
      why += "seed " + std::to_string(seed) + ": " + finding.sentence + '\n';
    }
  }
  INFO(wrong << " of " << seeds << " seeds from " << first << " named wrongly, " << wrong_figures
             << " figures wrong, " << wrong_periods << " of " << periods << " periods\n"
             << why);
  CHECK(wrong <= (seeds + 99) / 100);
  CHECK(wrong_figures <= (seeds + 99) / 100);
  // A thread computes only once per iteration, so the periods of some noise cannot be determined.
  CHECK(wrong_periods <= 1 + periods / 50);
}

TEST_CASE(
    "analysis: a host is slow, and a thread noisy, if the noise takes about as long as the "
    "slowness") {
  // The host is slow by 10 % of 30 ms, which is 3 ms. Each noise event takes between one third and
  // four thirds of these 3 ms.
  for (const std::uint32_t threads : {1u, 2u, 4u}) {
    for (const std::int64_t noise : {1'000 * us, 1'500 * us, 2 * ms, 3 * ms, 4 * ms}) {
      sample::Run run({.threads = threads,
                       .slow_hosts = {{"alpha-2", 1.1}},
                       .noise = {{2 * threads, noise, 197 * ms, 100 * ms}}});
      const Report report = sample::analyse_rounds(run, 1500);
      INFO(threads << " threads, noise of " << noise << "\n" << to_text(report));
      CHECK(named_in(report) ==
            std::set<std::string>{"noisy_thread alpha-2/0", "slow_host alpha-2"});
      for (const ThreadReport& thread : report.threads) {
        if (thread.name != "alpha-2/0") continue;
        CHECK(thread.base_nanos == 33 * ms);
        CHECK(thread.noise_nanos == run.noise_met(thread.rank));
        REQUIRE(thread.periods.size() == 1);
        CHECK(thread.periods[0].nanos == Approx(197.0 * ms).epsilon(0.001));
      }
    }
  }
}

namespace {

/// Returns the findings for a run in which thread alpha-0/1 takes 3 ms longer, and also has noise
/// of 3 ms with the period `period`. All iterations take 40.306 ms, because cluster beta arrives
/// later. The analysis may name a much shorter period, with which one or two noise events fall into
/// each computation. Such a period explains the late computations almost as well.
std::set<std::string> named_with_period(std::int64_t period) {
  sample::Options options;
  options.noise = {{1, 3 * ms, period, 10 * ms}};
  options.jitter = [](std::uint32_t thread, std::uint64_t) { return thread == 1 ? 3 * ms : 0; };
  sample::Run run(options);
  return named_in(sample::analyse_rounds(run, 1500));
}

const std::set<std::string> both = {"noisy_thread alpha-0/1", "slow_thread alpha-0/1"};

}  // namespace

TEST_CASE("analysis: a thread is slow and noisy if its noise is as long as its slowness") {
  CHECK(named_with_period(197 * ms) == both);
}

TEST_CASE("analysis: noise is rare if its period predicts better by 0.1 than frequent noise") {
  // The late computations could be caused by rare noise with the given period, or by noise in each
  // computation. Each explanation predicts which computations are late. With the first period
  // below, the correlations of the two predictions with the late computations differ by 0.13. With
  // the second period they differ by 0.08.
  CHECK(named_with_period(94'290 * us) == both);
  CHECK(named_with_period(97'700 * us) == std::set<std::string>{"noisy_thread alpha-0/1"});
}
