// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/significance_test.cpp — statistical comparisons of a report, and findings just
// below and just above each threshold.
#include "eventspace/analysis/report/significance.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "eventspace/analysis/analysis.hpp"
#include "eventspace/analysis/diagnosis/findings.hpp"
#include "runtime/random.hpp"
#include "tests/eventspace/sample_run.hpp"

namespace {

using namespace eventspace;
using sample::ms;
using sample::us;

/// Returns a normally distributed random number with mean 0 and deviation 1 (Box and Muller 1958).
double gaussian(runtime::Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.unit()));
  return radius * std::cos(2 * std::numbers::pi * random.unit());
}

/// Returns rows of one number each, with this mean and a deviation of 1.
BlockRows rows_around(double mean, std::uint64_t seed, std::size_t count = 256) {
  runtime::Random random(seed);
  BlockRows rows;
  for (std::size_t row = 0; row < count; ++row) rows.push_back({mean + gaussian(random), 1});
  return rows;
}

Report analyse(sample::Options options, std::uint64_t rounds = 1000, double from = name_from_share,
               bool has_common_clock = true) {
  options.has_common_clock = has_common_clock;
  sample::Run run(std::move(options));
  Analysis analysis(run.structure, {.name_from_share = from, .has_common_clock = has_common_clock});
  sample::add_rounds(analysis, run, rounds);
  const auto& lives = run.thread_records();
  for (std::uint32_t host = 0; host < lives.size(); ++host) analysis.add(host, lives[host]);
  return analysis.finish();
}

std::vector<std::string> named_in(const Report& report) {
  std::vector<std::string> names;
  for (const Finding& one : report.findings)
    names.push_back(std::string(finding_name(one.kind)) + " " +
                    (!one.thread.empty()          ? one.thread
                     : !one.place.wrapper.empty() ? one.place.wrapper
                                                  : one.place.host));
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<std::string>;

/// Jitter of one thread: `nanos` in each iteration for which `is_hit` is true.
template <typename IsHit>
auto jitter_of(std::uint32_t thread, std::int64_t nanos, const IsHit& is_hit) {
  return [=](std::uint32_t one, std::uint64_t iteration) -> std::int64_t {
    return one == thread && is_hit(iteration) ? nanos : 0;
  };
}

}  // namespace

TEST_CASE("significance: the quantile and the share of Student's distribution are inverse") {
  for (const double freedom : {3.0, 15.0, 60.0})
    for (const double outside : {0.5, 0.05, 1e-3, 1e-6})
      CHECK(student_outside(student_quantile(outside, freedom), freedom) ==
            Approx(outside).epsilon(1e-6));
  CHECK(student_quantile(0.05, 15) == Approx(2.131).epsilon(0.001));
  CHECK(student_quantile(0.01, 15) == Approx(2.947).epsilon(0.001));
}

TEST_CASE("significance: an interval excludes equal only if the difference is not chance") {
  const BlockRows usual = rows_around(100, 1);
  const BlockRows same = rows_around(100, 2);
  const BlockRows longer = rows_around(101, 3);
  const BlockRows shorter = rows_around(99, 4);
  Comparisons all;
  const std::size_t equal = all.add(same, usual);
  const std::size_t more = all.add(longer, usual);
  const std::size_t less = all.add(shorter, usual);
  const std::size_t declared = all.add(longer, 100.0);
  all.correct();
  CHECK_FALSE(all.at(equal).is_longer());
  CHECK(all.at(equal).low < 0);
  CHECK(all.at(equal).high > 0);
  CHECK(all.at(more).is_longer());
  CHECK(all.at(more).low < 1);
  CHECK(all.at(more).high > 1);
  CHECK_FALSE(all.at(less).is_longer());
  CHECK(all.at(less).high < 0);
  CHECK(all.at(declared).is_longer());
  // The declared value is exact, so the interval of a comparison with this value is narrower.
  CHECK(all.at(declared).high - all.at(declared).low < all.at(more).high - all.at(more).low);
}

TEST_CASE("significance: a difference is tested against the share that Holm 1979 gives it") {
  // Makes two comparisons with given estimates. The first comparison is tested at half of
  // chance_share. The second comparison is tested at the whole chance_share, but only if the first
  // one is significant.
  const double freedom = 15;
  const auto decide = [&](double first_outside, double second_outside) {
    Comparisons all;
    const std::size_t one =
        all.add({student_quantile(first_outside, freedom), 1, freedom}, {0, 0, freedom}, 1);
    const std::size_t other =
        all.add({student_quantile(second_outside, freedom), 1, freedom}, {0, 0, freedom}, 1);
    all.correct();
    return std::pair(all.at(one).is_longer(), all.at(other).is_longer());
  };
  CHECK(decide(0.49 * chance_share, 0.99 * chance_share) == std::pair(true, true));
  CHECK(decide(0.49 * chance_share, 1.01 * chance_share) == std::pair(true, false));
  CHECK(decide(0.51 * chance_share, 0.99 * chance_share) == std::pair(false, false));
}

TEST_CASE("significance: a difference that was searched needs the share of one place") {
  const double freedom = 15;
  const auto is_found = [&](double outside) {
    Comparisons all;
    const std::size_t one =
        all.add({student_quantile(outside, freedom), 1, freedom}, {0, 0, freedom}, 100);
    all.correct();
    return all.at(one).is_longer();
  };
  CHECK(is_found(0.99 * chance_share / 100));
  CHECK_FALSE(is_found(1.01 * chance_share / 100));
  // The first difference is the largest of 100 that were searched, and can be due to chance. The
  // first difference therefore does not make the next comparison easier.
  Comparisons all;
  all.add({student_quantile(0.3 * chance_share, freedom), 1, freedom}, {0, 0, freedom}, 100);
  const std::size_t next =
      all.add({student_quantile(0.7 * chance_share, freedom), 1, freedom}, {0, 0, freedom}, 1);
  all.correct();
  CHECK_FALSE(all.at(next).is_longer());
}

TEST_CASE("significance: fewer rows than the bootstrap needs are not compared") {
  for (const std::size_t count : {resampled_rows_least - 1, resampled_rows_least}) {
    const BlockRows longer(count, {200, 1});
    const BlockRows usual(count, {100, 1});
    Comparisons all;
    const std::size_t one = all.add(longer, usual);
    const std::size_t other = all.add(longer, 100.0);
    all.correct();
    CHECK(all.at(one).is_longer() == (count == resampled_rows_least));
    CHECK(all.at(other).is_longer() == (count == resampled_rows_least));
    CHECK(all.at(one).difference() == 100);
  }
}

TEST_CASE("significance: of reports without any difference at most 1% name one by chance") {
  constexpr int reports = 300;
  int wrong = 0;
  for (int report = 0; report < reports; ++report) {
    std::vector<BlockRows> rows;
    for (std::uint64_t thread = 0; thread < 20; ++thread)
      rows.push_back(rows_around(100, static_cast<std::uint64_t>(report) << 20 | thread, 128));
    Comparisons all;
    std::vector<std::size_t> numbers;
    for (std::size_t thread = 1; thread < rows.size(); ++thread)
      numbers.push_back(all.add(rows[thread], rows[0]));
    all.correct();
    wrong += std::any_of(numbers.begin(), numbers.end(),
                         [&](std::size_t one) { return all.at(one).is_longer(); });
  }
  // 1% of the 300 reports is three. By chance, up to three more reports may name a difference.
  CHECK(wrong * 100 <= 2 * reports);
}

TEST_CASE("findings: others are alike if the middle half of at least three is within a factor") {
  CHECK(middle_of_alike({100, 109, 100}) == 2);
  CHECK(middle_of_alike({100, 109}) == std::nullopt);
  CHECK(middle_of_alike({100, 109.9, 104}) == 2);
  CHECK(middle_of_alike({100, 110.1, 104}) == std::nullopt);
  CHECK(middle_of_alike({104, 500, 103, 1, 105}) == 0);
  CHECK(middle_of_alike({0, 0, 0}) == std::nullopt);
}

TEST_CASE("findings: a cause is named from the given share of the run on") {
  // Thread 6 is on host beta-2. All clusters wait for beta, so each iteration of 40.306 ms becomes
  // 0.2 ms longer, about 0.5%.
  sample::Options options;
  options.threads = 1;
  options.jitter = jitter_of(6, 200 * us, [](std::uint64_t) { return true; });
  for (const bool has_common_clock : {true, false}) {
    const auto named = [&](double from) {
      return named_in(analyse(options, 300, from, has_common_clock));
    };
    const double share = 200.0 / (40'306 + 200);
    CHECK(named(0.98 * share) == Names{"slow_host beta-2"});
    CHECK(named(1.02 * share).empty());
  }
  options.jitter = jitter_of(6, 38 * us, [](std::uint64_t) { return true; });
  CHECK(named_in(analyse(options, 300)).empty());
  options.jitter = jitter_of(6, 43 * us, [](std::uint64_t) { return true; });
  const Report report = analyse(options, 300);
  REQUIRE(named_in(report) == Names{"slow_host beta-2"});
  const auto json = to_json(report);
  CHECK(json["named_from_share"] == name_from_share);
  CHECK(json["findings"][0]["mean_nanos"] == 30 * ms + 43 * us);
  CHECK(json["findings"][0]["usual_nanos"] == 30 * ms);
  CHECK(json["findings"][0]["interval_nanos"][0] == Approx(43.0 * us));
  CHECK(json["findings"][0]["interval_nanos"][1] == Approx(43.0 * us));
  CHECK(json["findings"][0]["lost_nanos"] == 300 * 43 * us);
}

TEST_CASE("findings: a cause that the run does not wait for is hidden, and named") {
  sample::Options options;
  options.threads = 1;
  options.slow_hosts = {{"alpha-2", 1.05}};  // alpha waits 10 ms for beta in each iteration
  const Report report = analyse(options, 300);
  REQUIRE(named_in(report) == Names{"slow_host alpha-2"});
  CHECK(report.findings[0].is_hidden);
  CHECK(report.findings[0].lost_nanos == 300 * 1500 * us);
  CHECK(report.findings[0].cost_nanos < 10 * ms);
}

TEST_CASE("findings: hidden findings follow all others, also those without a predicted cost") {
  sample::Options options;
  options.threads = 1;
  options.slow_hosts = {{"alpha-2", 1.05}};
  options.late_replies = {{"sum.join.beta", 2 * ms}};
  const Report report = analyse(options, 300);
  REQUIRE(report.findings.size() == 2);
  CHECK_FALSE(report.findings[0].is_predicted);
  CHECK_FALSE(report.findings[0].is_hidden);
  CHECK(report.findings[1].is_hidden);
}

TEST_CASE("findings: one long computation is named from 1% of the run on") {
  // The run lasts 300 iterations of 40.306 ms, and the time of the long computation of beta.
  sample::Options options;
  const double run = 300 * 40.306;
  for (const double share : {0.9, 1.15}) {
    const double stall = share * always_named_share * run * ms;
    options.jitter = jitter_of(12, static_cast<std::int64_t>(stall),
                               [](std::uint64_t iteration) { return iteration == 150; });
    const Names expected = share < 1 ? Names{} : Names{"stall beta-2/0"};
    CHECK(named_in(analyse(options, 300)) == expected);
  }
}

TEST_CASE("findings: noise is a finding only if it is regular enough not to be chance") {
  sample::Options options;
  const auto every = [](std::uint64_t period) {
    return [=](std::uint64_t iteration) { return iteration % period == period / 2; };
  };
  options.jitter = jitter_of(12, 4 * ms, every(20));
  const Report often = analyse(options);
  REQUIRE(named_in(often) == Names{"noisy_thread beta-2/0"});
  REQUIRE(often.findings[0].compared);
  CHECK(often.findings[0].compared->nanos == Approx(200.0 * us));
  CHECK(often.findings[0].compared->low > 0);
  // Three events of 50 ms cost 0.4% of the run, but so few events may be due to chance.
  options.jitter = jitter_of(12, 50 * ms, [](std::uint64_t iteration) {
    return iteration == 100 || iteration == 430 || iteration == 900;
  });
  CHECK(named_in(analyse(options)).empty());
}

TEST_CASE("findings: noise explains slowness if the rest is at most a tenth of an event") {
  // Each computation takes longer by one event of noise and a rest. Every fifth computation has one
  // more event. Noise in all computations explains this if the rest is small.
  constexpr std::int64_t event = 6 * ms;
  for (const auto& [rest, is_noise] :
       {std::pair{event * 9 / 100, true}, std::pair{event * 11 / 100, false},
        std::pair{-event * 9 / 100, true}, std::pair{-event * 11 / 100, false}}) {
    sample::Options options;
    options.jitter = [rest = rest](std::uint32_t thread, std::uint64_t iteration) -> std::int64_t {
      return thread != 13 ? 0 : event + rest + (iteration * 2654435761u % 5 == 0 ? event : 0);
    };
    const Names named = named_in(analyse(options));
    const bool is_slow =
        std::find(named.begin(), named.end(), "slow_thread beta-2/1") != named.end();
    INFO(rest);
    CHECK(is_slow == !is_noise);
    CHECK(std::find(named.begin(), named.end(), "noisy_thread beta-2/1") != named.end());
  }
}

TEST_CASE("findings: a thread is slow only if its short computations are long, too") {
  // In the other threads, a fifth of all computations takes 10 ms less. The mean of thread 13
  // exceeds the mean of the other threads by 1 ms in both cases. Its 10th percentile exceeds that
  // of the other threads by `tenth`.
  for (const auto& [tenth, is_slow] : {std::pair{450 * us, false}, std::pair{550 * us, true}}) {
    sample::Options options;
    options.jitter = [tenth = tenth](std::uint32_t thread,
                                     std::uint64_t iteration) -> std::int64_t {
      const bool is_short = (iteration * 7 + thread * 3) % 5 == 0;
      const std::int64_t usual = is_short ? 0 : 10 * ms;
      if (thread != 13) return usual;
      return usual + (is_short ? tenth : ms + (ms - tenth) / 4);
    };
    const Names expected = is_slow ? Names{"slow_thread beta-2/1"} : Names{};
    CHECK(named_in(analyse(options)) == expected);
  }
}

TEST_CASE("findings: slow hosts are one finding if they are within a tenth of each other") {
  for (const double factor : {1.31, 1.33}) {
    sample::Options options;
    options.hosts = 6;
    options.threads = 1;
    options.slow_hosts = {{"beta-2", 1.2}, {"beta-4", factor}};
    CHECK(analyse(options, 100).findings.size() == (factor < 1.32 ? 1 : 2));
  }
}

TEST_CASE("findings: a level lasts at least three of the blocks of the run") {
  // 128 iterations are 128 blocks of one iteration each. The two longest blocks count as single
  // spikes.
  for (const std::uint64_t length : {2u, 3u}) {
    sample::Options options;
    options.jitter =
        jitter_of(12, 20 * ms, [=](std::uint64_t iteration) { return iteration >= 128 - length; });
    const Names named = named_in(analyse(options, 128));
    INFO(length);
    CHECK(named == (length < 3 ? Names{} : Names{"change beta-2/0"}));
  }
}

namespace {

/// Returns the report of thread beta-2/1 in a run with this jitter.
ThreadReport last_thread_of(sample::Options options, std::uint64_t rounds = 1000) {
  const Report report = analyse(std::move(options), rounds);
  return *std::find_if(report.threads.begin(), report.threads.end(),
                       [](const ThreadReport& one) { return one.name == "beta-2/1"; });
}

/// Jitter of the threads from `first` to `last`.
template <typename IsHit>
auto jitter_of(std::uint32_t first, std::uint32_t last, std::int64_t nanos, const IsHit& is_hit) {
  return [=](std::uint32_t one, std::uint64_t iteration) -> std::int64_t {
    return one >= first && one <= last && is_hit(iteration) ? nanos : 0;
  };
}

bool is_tenth(std::uint64_t iteration) { return iteration % 10 == 5; }

}  // namespace

TEST_CASE("findings: noise that is always named is a stall below five events") {
  for (const std::uint64_t events : {4u, 5u}) {
    sample::Options options;
    options.jitter = jitter_of(13, 100 * ms, [=](std::uint64_t iteration) {
      return iteration % 150 == 100 && iteration < 150 * events;
    });
    CHECK(named_in(analyse(options, 800)) ==
          Names{events < 5 ? "stall beta-2/1" : "noisy_thread beta-2/1"});
  }
}

TEST_CASE("findings: an outlier exceeds its base by a share, a time and a multiple of the spread") {
  const auto outliers = [](std::int64_t computation, std::int64_t more, std::int64_t spread) {
    sample::Options options;
    options.computation = computation;
    options.jitter = [=](std::uint32_t thread, std::uint64_t iteration) -> std::int64_t {
      if (thread == 13 && is_tenth(iteration)) return more;
      return iteration % 5 == 0 ? -spread : 0;
    };
    return last_thread_of(options).outliers;
  };
  CHECK(outliers(400 * us, 49 * us, 0) == 0);
  CHECK(outliers(400 * us, 51 * us, 0) == 100);
  CHECK(outliers(30 * ms, 590 * us, 0) == 0);
  CHECK(outliers(30 * ms, 610 * us, 0) == 100);
  CHECK(outliers(30 * ms, 3900 * us, ms) == 0);
  CHECK(outliers(30 * ms, 4100 * us, ms) == 100);
}

TEST_CASE("findings: outliers are determined from sixteen computations on") {
  sample::Options options;
  options.jitter = jitter_of(13, 10 * ms, [](std::uint64_t iteration) { return iteration == 7; });
  CHECK(last_thread_of(options, base_computations - 1).outliers == 0);
  CHECK(last_thread_of(options, base_computations).outliers == 1);
}

TEST_CASE("findings: noise is in all computations from one in twenty outliers on") {
  for (const std::uint64_t events : {49u, 50u}) {
    runtime::Random random(1);
    std::set<std::uint64_t> hit;
    while (hit.size() < events) hit.insert(random.below(1000));
    sample::Options options;
    options.jitter = [=](std::uint32_t thread, std::uint64_t iteration) -> std::int64_t {
      return thread != 13 ? 0 : hit.contains(iteration) ? 12 * ms : 6 * ms;
    };
    CHECK(last_thread_of(options).base_nanos == (events < 50 ? 36 * ms : 30 * ms));
  }
}

TEST_CASE("findings: noise explains at most three events in each computation") {
  for (const std::int64_t times : {3, 4}) {
    sample::Options options;
    options.jitter = [=](std::uint32_t thread, std::uint64_t iteration) -> std::int64_t {
      if (thread != 13) return 0;
      return times * 2 * ms + (iteration * 2654435761u % 5 == 0 ? 2 * ms : 0);
    };
    Names expected = {"noisy_thread beta-2/1"};
    if (times == 4) expected.emplace_back("slow_thread beta-2/1");
    CHECK(named_in(analyse(options)) == expected);
  }
}

TEST_CASE("findings: a reply is late from one millisecond on") {
  for (const std::int64_t late : {999 * us, 1000 * us}) {
    sample::Options options;
    options.late_replies = {{"sum.join.beta", late}};
    CHECK(named_in(analyse(options, 300)) ==
          (late < ms ? Names{} : Names{"late_broadcast sum.join.beta"}));
  }
}

TEST_CASE("findings: two levels differ by at least eight of their standard deviations") {
  // Each of the 128 iterations alternately deviates by +1 ms or -1 ms from its level. The standard
  // deviation of the difference of the two halves is therefore sqrt(2 / 63) ms = 0.178 ms. Eight
  // times this deviation is 1.425 ms.
  for (const std::int64_t more : {1380 * us, 1470 * us}) {
    sample::Options options;
    options.jitter = [=](std::uint32_t thread, std::uint64_t iteration) -> std::int64_t {
      return (iteration % 2 == 0 ? ms : -ms) + (thread == 13 && iteration >= 64 ? more : 0);
    };
    const Names named = named_in(analyse(options, 128));
    const bool is_change = std::find(named.begin(), named.end(), "change beta-2/1") != named.end();
    INFO(more);
    CHECK(is_change == (more > 1425 * us));
  }
}

TEST_CASE("findings: a stall of a thread whose level also changed is named next to the change") {
  sample::Options options;
  options.jitter = [](std::uint32_t thread, std::uint64_t iteration) -> std::int64_t {
    if (thread != 13) return 0;
    return (iteration >= 150 ? 450 * us : 0) + (iteration == 70 ? 400 * ms : 0);
  };
  CHECK(named_in(analyse(options, 300)) == Names{"change beta-2/1", "stall beta-2/1"});
  // Without the stall, the change alone explains why the thread is slower on average, so it is the
  // only finding.
  options.jitter =
      jitter_of(13, 450 * us, [](std::uint64_t iteration) { return iteration >= 150; });
  CHECK(named_in(analyse(options, 300)) == Names{"change beta-2/1"});
}

TEST_CASE(
    "findings: a change explains slowness that costs at most a quarter more than the change") {
  // Host beta-2 always computes longer by `always`, and by 0.45 ms more from iteration 30 of 300
  // on. The change therefore costs 405 us in each iteration on average, and the slowness costs
  // `always` more.
  for (const std::int64_t always : {85 * us, 115 * us}) {
    sample::Options options;
    options.threads = 1;
    options.jitter = [=](std::uint32_t thread, std::uint64_t iteration) -> std::int64_t {
      return thread != 6 ? 0 : always + (iteration >= 30 ? 450 * us : 0);
    };
    Names expected = {"change beta-2/0"};
    if (always > 101 * us) expected.emplace_back("slow_host beta-2");
    CHECK(named_in(analyse(options, 300)) == expected);
  }
}

TEST_CASE("findings: a stall of several hosts at one time is one finding") {
  sample::Options options;
  const auto once = [](std::uint64_t iteration) { return iteration == 150; };
  options.jitter = jitter_of(10, 13, 400 * ms, once);
  const Report report = analyse(options, 300);
  REQUIRE(named_in(report) == Names{"stall beta-1"});
  CHECK(report.findings[0].hosts == Names{"beta-1", "beta-2"});
  CHECK_THAT(report.findings[0].sentence, Catch::StartsWith("2 hosts of beta computed 430.000 ms"));
  CHECK(static_cast<double>(report.findings[0].cost_nanos) == Approx(400.0 * ms).epsilon(0.01));
  // Without a common clock, nothing shows that the two hosts stopped at the same time.
  CHECK(named_in(analyse(options, 300, name_from_share, false)) ==
        Names{"stall beta-1", "stall beta-2"});
}

TEST_CASE("findings: stalls of several hosts at different times are different findings") {
  for (const bool is_first_earlier : {true, false}) {
    sample::Options options;
    options.jitter = [=](std::uint32_t thread, std::uint64_t iteration) -> std::int64_t {
      const bool is_first = thread == 10 || thread == 11;
      if (!is_first && thread != 12 && thread != 13) return 0;
      return iteration == (is_first == is_first_earlier ? 150 : 200) ? 400 * ms : 0;
    };
    INFO(is_first_earlier);
    CHECK(named_in(analyse(options, 300)) == Names{"stall beta-1", "stall beta-2"});
  }
}

TEST_CASE("findings: changes at one time are one finding if they differ by at most a quarter") {
  for (const std::int64_t other : {2440 * us, 2560 * us}) {
    sample::Options options;
    options.jitter = [=](std::uint32_t thread, std::uint64_t iteration) -> std::int64_t {
      if (iteration < 150 || thread < 10 || thread > 13) return 0;
      return thread < 12 ? 2 * ms : other;
    };
    Names expected = {"change beta-1"};
    if (other > 2500 * us) expected.emplace_back("change beta-2");
    CHECK(named_in(analyse(options, 300)) == expected);
  }
}

TEST_CASE("findings: a change of one host does not explain that several hosts are slow") {
  // The change of beta-2 costs 121.5 ms. The slowness of both hosts together costs 145.5 ms.
  sample::Options options;
  options.hosts = 6;
  options.threads = 1;
  options.jitter = [](std::uint32_t thread, std::uint64_t iteration) -> std::int64_t {
    return thread == 10 ? 80 * us : thread == 8 && iteration >= 30 ? 450 * us : 0;
  };
  const Report report = analyse(options, 300);
  REQUIRE(named_in(report) == Names{"change beta-2/0", "slow_host beta-2"});
  for (const Finding& one : report.findings)
    if (one.kind == FindingKind::slow_host) CHECK(one.hosts == Names{"beta-2", "beta-4"});
}

TEST_CASE("findings: noise of the same kind in all threads of several hosts is one finding") {
  sample::Options options;
  options.jitter = jitter_of(10, 13, 4 * ms, is_tenth);
  const Report alike = analyse(options, 300);
  REQUIRE(named_in(alike) == Names{"noisy_thread beta-1"});
  CHECK(alike.findings[0].hosts == Names{"beta-1", "beta-2"});
  CHECK_THAT(alike.findings[0].sentence,
             Catch::StartsWith("2 hosts of beta have noise of 4.000 ms"));
  const double lost = 4.0 * 30 * 4 * ms;  // 30 times in each of four threads
  CHECK(static_cast<double>(alike.findings[0].lost_nanos) == Approx(lost).epsilon(0.01));

  // Noise of only one thread per host is not counted as noise of whole hosts.
  options.jitter = [](std::uint32_t thread, std::uint64_t iteration) -> std::int64_t {
    return (thread == 10 || thread == 12) && is_tenth(iteration) ? 4 * ms : 0;
  };
  CHECK(named_in(analyse(options, 300)) == Names{"noisy_thread beta-1/0", "noisy_thread beta-2/0"});

  // Noise of another size has a cause of its own.
  options.jitter = [](std::uint32_t thread, std::uint64_t iteration) -> std::int64_t {
    return thread >= 10 && thread <= 13 && is_tenth(iteration) ? (thread < 12 ? 4 : 5) * ms : 0;
  };
  CHECK(named_in(analyse(options, 300)) == Names{"noisy_thread beta-1", "noisy_thread beta-2"});
}
