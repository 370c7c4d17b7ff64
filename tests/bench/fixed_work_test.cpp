// SPDX-License-Identifier: Apache-2.0
// tests/bench/fixed_work_test.cpp — exact figures of injected noise, and a measurement of the real
// noise of this machine.
#include "bench/fixed_work/fixed_work.hpp"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "bench/support/compute.hpp"
#include "runtime/random.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/shell.hpp"

namespace {

using base::Nanos;
using bench::fixed_work::Detour;
using bench::fixed_work::Findings;
using bench::fixed_work::Method;
using bench::fixed_work::Options;
using bench::fixed_work::Samples;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

Options options(Method method) {
  Options options;
  options.method = method;
  return options;
}

/// Returns detours (interruptions of a thread) of equal duration. The first detour begins at
/// `first`, and a further detour begins after each `period`.
std::vector<Detour> every(Nanos period, Nanos duration, Nanos first, Nanos span = seconds(10)) {
  std::vector<Detour> detours;
  for (Nanos start = first; start + duration <= span; start += period)
    detours.push_back({start, duration});
  return detours;
}

/// Returns the samples that the method fwq measures on a processor with this noise. Each detour
/// begins together with a piece of work.
Samples pieces(const std::vector<Detour>& noise, Nanos piece, Nanos span) {
  Samples samples;
  auto next = noise.begin();
  while (samples.span < span) {
    const bool is_late = next != noise.end() && next->start <= samples.span;
    samples.span += piece + (is_late ? next++->duration : Nanos(0));
    samples.ends.push_back(samples.span);
  }
  return samples;
}

/// Returns the samples that the method ftq measures on a processor with this noise. A unit of work
/// takes a thousandth of an interval.
Samples units(const std::vector<Detour>& noise, Nanos interval, Nanos span) {
  Samples samples;
  samples.span = span;
  for (const double lost : bench::fixed_work::lost_by_bin(noise, span, interval))
    samples.done.push_back(static_cast<std::uint32_t>(
        std::llround(1000 * (1 - lost / static_cast<double>(interval.count())))));
  return samples;
}

std::vector<bench::fixed_work::Period> periods_of(const std::vector<Detour>& noise,
                                                  Nanos span = seconds(10)) {
  return bench::fixed_work::periods(bench::fixed_work::lost_by_bin(noise, span, milliseconds(1)),
                                    milliseconds(1));
}

#if PATHS_HAS_BENCH
/// Returns the output and the exit code of the program for a command line that it must refuse.
std::string refusal(const std::string& arguments) {
  const test_support::Said said =
      test_support::run_shell("timeout 20 " PATHS_BUILD_BIN_DIR "/fixed_work " + arguments);
  return fmt::format("{}exit code {}\n", said.text, said.exit_code);
}
#endif

}  // namespace

TEST_CASE("fixed work: the time of a piece beyond the shortest one is noise") {
  const Samples samples = pieces(every(milliseconds(100), milliseconds(5), milliseconds(30)),
                                 microseconds(100), seconds(10));
  const Findings findings = bench::fixed_work::analyze(samples, options(Method::fixed_work));
  CHECK(findings.span == seconds(10));
  CHECK(findings.noise_share == Approx(0.05).epsilon(1e-12));
  CHECK(findings.detours == every(milliseconds(100), milliseconds(5), milliseconds(30)));
  CHECK(findings.threshold == microseconds(1));
  CHECK(findings.detour.count == 100);
  CHECK(findings.detour.p50 == milliseconds(5));
  CHECK(findings.detour.mean_nanos == 5e6);
  CHECK(findings.work.min == microseconds(100));
  CHECK(findings.work.p99 == microseconds(100));
  CHECK(findings.work.p99_9 == microseconds(5100));
  CHECK(findings.work.max == microseconds(5100));
  REQUIRE(findings.periods.size() == 1);
  CHECK(findings.periods[0].nanos == Approx(100e6).epsilon(0.001));
  CHECK(findings.periods[0].explains > 0.95);
}

TEST_CASE("fixed time: work that an interval lacks compared with the fullest one is noise") {
  const auto noise = every(milliseconds(100), milliseconds(5), microseconds(30'200));
  const Findings findings = bench::fixed_work::analyze(units(noise, milliseconds(1), seconds(10)),
                                                       options(Method::fixed_time));
  CHECK(findings.noise_share == Approx(0.05).epsilon(1e-12));
  // Each detour covers several intervals. It fills the inner intervals completely, so the analysis
  // finds its exact start.
  CHECK(findings.detours == noise);
  CHECK(findings.work.p50 == Nanos(0));
  CHECK(findings.work.max == milliseconds(1));
  REQUIRE(findings.periods.size() == 1);
  CHECK(findings.periods[0].nanos == Approx(100e6).epsilon(0.001));
  CHECK(findings.periods[0].explains > 0.95);
}

TEST_CASE(
    "fixed time: losses of adjacent intervals are one detour only if it fills a whole interval") {
  Samples samples;
  samples.done = {1000, 900, 800, 1000, 700, 0, 0, 400, 300, 995};
  samples.span = milliseconds(10);
  const Findings findings = bench::fixed_work::analyze(samples, options(Method::fixed_time));
  CHECK(findings.detours == std::vector<Detour>{{milliseconds(1), microseconds(100)},
                                                {milliseconds(2), microseconds(200)},
                                                {microseconds(4700), microseconds(2900)},
                                                {milliseconds(8), microseconds(700)}});
  Options long_ones = options(Method::fixed_time);
  long_ones.threshold = milliseconds(2);  // the threshold is longer than an interval of 1 ms
  CHECK(bench::fixed_work::analyze(samples, long_ones).detours ==
        std::vector<Detour>{{microseconds(4700), microseconds(2900)}});
  CHECK(findings.noise_share == Approx((0.1 + 0.2 + 2.9 + 0.7 + 0.005) / 10));
}

TEST_CASE("fixed time: a count that is one lower in a coarse interval is not a detour") {
  Samples samples;
  samples.done.assign(1000, 49);
  samples.done[7] = 50;
  samples.span = milliseconds(10);
  Options coarse = options(Method::fixed_time);
  coarse.interval = microseconds(10);
  CHECK(coarse.work_or_default() == Nanos(200));
  CHECK(bench::fixed_work::analyze(samples, coarse).detours.empty());
}

TEST_CASE("fixed time: a thread that did no work lost the whole time") {
  Samples samples;
  samples.done.assign(10, 0);
  samples.span = milliseconds(10);
  const Findings findings = bench::fixed_work::analyze(samples, options(Method::fixed_time));
  CHECK(findings.noise_share == 1);
  CHECK(findings.detours == std::vector<Detour>{{Nanos(0), milliseconds(10)}});
}

TEST_CASE("detour: the length of a gap minus the shortest read of the clock is noise") {
  Samples samples;
  samples.span = seconds(10);
  samples.shortest_look = Nanos(25);
  const auto noise = every(milliseconds(4), microseconds(20), microseconds(1234));
  for (const Detour& detour : noise)
    samples.gaps.push_back({detour.start, detour.duration + Nanos(25)});
  const Findings findings = bench::fixed_work::analyze(samples, options(Method::detour));
  CHECK(findings.detours == noise);
  CHECK(findings.noise_share == Approx(0.005).epsilon(1e-12));
  CHECK(findings.threshold == Nanos(225));
  REQUIRE(findings.periods.size() == 1);
  CHECK(findings.periods[0].nanos == Approx(4e6).epsilon(0.001));
  CHECK(findings.periods[0].explains == Approx(1));
}

TEST_CASE("noise statistics: percentiles use the nearest rank") {
  const auto all = bench::fixed_work::distribution({Nanos(30), Nanos(10), Nanos(20), Nanos(40)});
  CHECK(all.count == 4);
  CHECK(all.min == Nanos(10));
  CHECK(all.p50 == Nanos(20));
  CHECK(all.p99 == Nanos(40));
  CHECK(all.max == Nanos(40));
  CHECK(all.mean_nanos == 25);
  CHECK(bench::fixed_work::distribution({}).count == 0);
}

TEST_CASE("noise statistics: a detour counts in every bin that it overlaps") {
  const std::vector<Detour> noise = {{microseconds(900), microseconds(1300)},
                                     {microseconds(3900), microseconds(500)}};
  CHECK(bench::fixed_work::lost_by_bin(noise, microseconds(4500), milliseconds(1)) ==
        std::vector<double>{1e5, 1e6, 2e5, 1e5});
}

TEST_CASE("periods: the period is found and not its half or its double") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    INFO("seed " << seed);
    runtime::Random random(seed);
    const Nanos period(random.between(2'500'000, 900'000'000));
    const Nanos duration(random.between(10'000, period.count() / 3));
    const auto found =
        periods_of(every(period, duration, Nanos(random.between(0, period.count()))));
    REQUIRE(found.size() >= 1);
    INFO("period " << period.count() << " duration " << duration.count());
    CHECK(found[0].nanos == Approx(static_cast<double>(period.count())).epsilon(0.01));
  }
}

TEST_CASE("periods: two simultaneous periods are both found") {
  auto noise = every(milliseconds(130), milliseconds(3), milliseconds(17));
  for (const Detour& one : every(milliseconds(7), microseconds(500), milliseconds(2)))
    noise.push_back(one);
  const auto found = periods_of(noise);
  REQUIRE(found.size() == 2);
  // The bins are 1 ms long. A noise that takes the time h in a share p of the bins, and no time in
  // the other bins, has the variance h² p (1 - p). `first`: h = 0.5 ms, p = 1/7. `second`: h = 1
  // ms, p = 3/130.
  const double first = 0.25 / 7 * 6 / 7, second = 3.0 / 130 * 127 / 130;
  CHECK(found[0].nanos == Approx(7e6).epsilon(0.01));
  CHECK(found[0].explains == Approx(first / (first + second)).margin(0.02));
  CHECK(found[1].nanos == Approx(130e6).epsilon(0.01));
  CHECK(found[1].explains == Approx(second / (first + second)).margin(0.02));
}

TEST_CASE("periods: a slightly irregular period is found among random noise") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    INFO("seed " << seed);
    runtime::Random random(seed);
    auto noise = every(milliseconds(100), milliseconds(5), milliseconds(30), milliseconds(9900));
    for (Detour& one : noise) one.start += Nanos(random.between(-1'000'000, 1'000'000));
    for (int i = 0; i < 300; ++i)
      noise.push_back({Nanos(random.between(0, 9'900'000'000)), microseconds(700)});
    const auto found = periods_of(noise);
    REQUIRE(found.size() >= 1);
    CHECK(found[0].nanos == Approx(100e6).epsilon(0.01));
    CHECK(found.size() == 1);
  }
}

TEST_CASE("periods: noise at random times has no period") {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    runtime::Random random(seed);
    std::vector<Detour> noise;
    for (int i = 0; i < 500; ++i)
      noise.push_back(
          {Nanos(random.between(0, 9'990'000'000)), Nanos(random.between(1'000, 8'000'000))});
    found += periods_of(noise).empty() ? 0 : 1;
  }
  CHECK(found <= 2);
  CHECK(periods_of({}).empty());
  CHECK(bench::fixed_work::periods(std::vector<double>(30, 1), milliseconds(1)).empty());
}

TEST_CASE("periods: a long measurement is searched with wider bins") {
  const auto found =
      periods_of(every(seconds(3), milliseconds(70), milliseconds(30), seconds(600)), seconds(600));
  REQUIRE(found.size() == 1);
  CHECK(found[0].nanos == Approx(3e9).epsilon(0.001));
}

TEST_CASE("fixed_work --noise: noise_allreduce --replay reads the file") {
  const Samples samples =
      pieces(every(milliseconds(100), milliseconds(5), milliseconds(30), seconds(1)),
             microseconds(100), seconds(1));
  Options fwq = options(Method::fixed_work);
  Findings findings = bench::fixed_work::analyze(samples, fwq);
  const std::string text = bench::fixed_work::to_noise(findings);
  CHECK(text.substr(0, text.find('\n')) == "30000000\t5000000");
  const test_support::WrittenFile file(text);
  const bench::Noise noise(file.path());
  CHECK(noise.period() == seconds(1));
  CHECK(noise.stretched(Nanos(0), milliseconds(30)) == milliseconds(30));
  CHECK(noise.stretched(Nanos(0), milliseconds(31)) == milliseconds(36));
  CHECK(noise.stretched(milliseconds(940), milliseconds(100)) == milliseconds(105));

  findings.detours.clear();
  const test_support::WrittenFile none(bench::fixed_work::to_noise(findings));
  CHECK(bench::Noise(none.path()).stretched(milliseconds(3), seconds(5)) == seconds(5));
}

TEST_CASE("fixed_work: prints figures and samples and a readable table") {
  Samples samples;
  samples.processor = 3;
  samples.done = {1000, 750, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000};
  samples.span = milliseconds(10);
  Options ftq = options(Method::fixed_time);
  ftq.duration = milliseconds(10);
  const std::vector<Findings> findings = {bench::fixed_work::analyze(samples, ftq)};
  const auto json = bench::fixed_work::to_json(ftq, findings);
  CHECK(json["method"] == "ftq");
  CHECK(json["noise_share"] == Approx(0.025));
  CHECK(json["threads"][0]["processor"] == 3);
  CHECK(json["threads"][0]["detours"] == 1);
  CHECK(json["threads"][0]["detours_per_second"] == Approx(100));
  CHECK(json["threads"][0]["detour_us"]["p50"] == Approx(250));
  CHECK(json["threads"][0]["lost_in_interval_us"]["max"] == Approx(250));
  CHECK(bench::fixed_work::to_csv(ftq, std::vector{samples}).substr(0, 50) ==
        "processor,start_ns,units\n3,0,1000\n3,1000000,750\n3,");
  CHECK_THAT(bench::fixed_work::to_text(json),
             Catch::Contains("ftq: 1 thread, 0.01 s, intervals of 1 ms, units of 1 us") &&
                 Catch::Contains("2.500% noise"));
}

TEST_CASE("fixed_work: options that cannot be measured are refused with the option's name") {
  Options wrong = options(Method::detour);
  CHECK(wrong.mistake().empty());
  wrong.work = microseconds(1);
  CHECK_THAT(wrong.mistake(), Catch::StartsWith("--work: "));
  wrong = options(Method::fixed_time);
  wrong.work = milliseconds(1);
  CHECK_THAT(wrong.mistake(), Catch::StartsWith("--work: "));
  wrong = options(Method::fixed_work);
  wrong.duration = std::chrono::hours(24);
  CHECK_THAT(wrong.mistake(), Catch::StartsWith("--duration: "));
  wrong.duration = milliseconds(5);
  CHECK_THAT(wrong.mistake(), Catch::StartsWith("--duration: "));
  wrong.interval = Nanos(10);
  CHECK_THAT(wrong.mistake(), Catch::StartsWith("--interval: "));
  Options many;
  many.threads = static_cast<std::uint32_t>(bench::fixed_work::usable_processors().size()) + 1;
  CHECK_THROWS_WITH(bench::fixed_work::measure(many), Catch::Contains("expected a processor"));
}

TEST_CASE("fixed_work: every method measures every processor of this machine") {
  for (const Method method : {Method::fixed_work, Method::fixed_time, Method::detour}) {
    Options real = options(method);
    real.duration = milliseconds(50);
    real.threads = static_cast<std::uint32_t>(bench::fixed_work::usable_processors().size());
    const auto samples = bench::fixed_work::measure(real);
    REQUIRE(samples.size() == real.threads);
    std::set<std::uint32_t> processors;
    for (const Samples& one : samples) {
      processors.insert(one.processor);
      CHECK(one.ends.empty() == (method != Method::fixed_work));
      CHECK(one.done.size() == (method == Method::fixed_time ? 50u : 0u));
      CHECK(std::is_sorted(one.ends.begin(), one.ends.end()));
      const Findings findings = bench::fixed_work::analyze(one, real);
      CHECK(findings.span > Nanos(0));
      CHECK(findings.noise_share >= 0);
      CHECK(findings.noise_share <= 1);
      const test_support::WrittenFile file(bench::fixed_work::to_noise(findings));
      CHECK(bench::Noise(file.path()).period() == findings.span);
    }
    CHECK(processors.size() == real.threads);
  }
}

#if PATHS_HAS_BENCH
TEST_CASE(
    "fixed_work command line: invalid options exit with 2 and print the reason and a hint to the "
    "help") {
  const std::string end = "Try 'fixed_work --help' for more information.\nexit code 2\n";
  CHECK_THAT(refusal("--mehtod ftq"), Catch::Contains("did you mean '--method'?\n" + end));
  CHECK(refusal("--method fqw") ==
        "fixed_work: --method: expected fwq, ftq or detour, found 'fqw'\n" + end);
  CHECK(refusal("--duration 30") ==
        "fixed_work: --duration: expected a time such as 30ms, found '30'\n" + end);
  CHECK(refusal("--method detour --work 1us") ==
        "fixed_work: --work: the method detour does no work\n" + end);
}

TEST_CASE(
    "fixed_work command line: an output file that cannot be written is refused before the "
    "measurement") {
  for (const std::string option : {"--json", "--csv", "--noise"})
    CHECK_THAT(refusal("--duration 1h --work 1ms --threads 1 " + option + " /nowhere/out.txt"),
               Catch::StartsWith("fixed_work: " + option +
                                 ": expected a file that can be written, "
                                 "found '/nowhere/out.txt': there is no folder /nowhere\n") &&
                   Catch::EndsWith("exit code 2\n"));
}
#endif
