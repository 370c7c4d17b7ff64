// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/analysis_damage_test.cpp — analysis of damaged or forged records, which must
// give plausible figures.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "eventspace/analysis/analysis.hpp"
#include "eventspace/analysis/report/compare.hpp"
#include "runtime/random.hpp"
#include "tests/eventspace/sample_run.hpp"
#include "tests/support/environment.hpp"

namespace {

using namespace eventspace;
using runtime::Random;
using sample::ms;
using sample::us;
using Records = std::vector<EventRecord>;

std::vector<Records> records_of(sample::Run& run, std::uint64_t rounds, bool has_lives) {
  std::vector<Records> all(run.structure.hosts.size());
  const auto take = [&](const std::vector<Records>& some) {
    for (std::size_t host = 0; host < all.size(); ++host)
      all[host].insert(all[host].end(), some[host].begin(), some[host].end());
  };
  for (std::uint64_t round = 0; round < rounds; ++round) take(run.next_round());
  if (has_lives) take(run.thread_records());
  return all;
}

/// Removes records, repeats records and changes their order, as in damaged files. Removes single
/// records, ranges of records, and the last records.
void lose_and_mix(Records& records, Random& random) {
  const double lost = random.chance(0.3) ? random.unit() * random.unit() : 0;
  std::erase_if(records, [&](const EventRecord&) { return random.chance(lost); });
  const auto part = [&] {
    const std::size_t begin = random.below(records.size() + 1);
    const std::size_t end = begin + random.below(records.size() - begin + 1);
    return std::pair(records.begin() + static_cast<std::ptrdiff_t>(begin),
                     records.begin() + static_cast<std::ptrdiff_t>(end));
  };
  if (random.chance(0.2)) {
    const auto [begin, end] = part();
    records.erase(begin, end);
  }
  if (random.chance(0.2)) records.resize(random.below(records.size() + 1));
  if (random.chance(0.2)) {
    const auto [begin, end] = part();
    const Records again(begin, end);
    records.insert(records.end(), again.begin(), again.end());
  }
  if (random.chance(0.2)) {
    const auto [begin, end] = part();
    for (auto at = begin; at != end; ++at)
      std::iter_swap(at, begin + static_cast<std::ptrdiff_t>(
                                     random.below(static_cast<std::uint64_t>(end - begin))));
  }
}

/// Changes bits of some records, and replaces other records with random bytes.
void forge(Records& records, Random& random) {
  const double share = random.unit() * random.unit() * 0.5;
  const std::size_t count = records.size();
  for (std::size_t place = 0; place < count; ++place) {
    if (!random.chance(share)) continue;
    std::byte bytes[sizeof(EventRecord)];
    std::memcpy(bytes, &records[place], sizeof bytes);
    if (random.chance(0.5)) {
      bytes[random.below(sizeof bytes)] ^= static_cast<std::byte>(1u << random.below(8));
    } else if (random.chance(0.5)) {
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
    } else {
      // Changes one byte of the record's sequence number.
      bytes[8 + random.below(7)] = static_cast<std::byte>(random.next());
    }
    EventRecord record;
    std::memcpy(static_cast<void*>(&record), bytes, sizeof bytes);
    if (random.chance(0.5)) {
      records[place] = record;
    } else {
      records.push_back(record);
    }
  }
}

Report analyse(const Structure& structure, const std::vector<Records>& records, Random& random) {
  AnalysisOptions options;
  if (random.chance(0.3)) options.open_rounds_bytes = random.below(200'000);
  if (random.chance(0.3)) options.computations = 1 + random.below(500);
  if (random.chance(0.3)) options.exact_bytes = 0;
  Analysis analysis(structure, options);
  std::vector<std::size_t> fed(records.size(), 0);
  for (bool is_more = true; is_more;) {
    is_more = false;
    for (std::uint32_t host = 0; host < records.size(); ++host) {
      const std::size_t count =
          std::min<std::size_t>(records[host].size() - fed[host], random.below(300));
      analysis.add(host, std::span(records[host]).subspan(fed[host], count));
      fed[host] += count;
      is_more |= fed[host] < records[host].size();
    }
  }
  return analysis.finish();
}

bool is_sound(const Summary& one, std::uint64_t records) {
  if (one.count == 0) return one == Summary{};
  const double slack = 1e-9 * std::max(std::abs(static_cast<double>(one.min)),
                                       std::abs(static_cast<double>(one.max)));
  return one.count <= records && one.min <= one.p10 && one.p10 <= one.p50 && one.p50 <= one.p90 &&
         one.p90 <= one.p99 && one.p99 <= one.max &&
         one.mean >= static_cast<double>(one.min) - slack &&
         one.mean <= static_cast<double>(one.max) + slack;
}

bool is_share(double value) { return value >= 0 && value <= 1; }

void check_rounds(const Report& report, std::uint64_t records) {
  for (const CriticalReport& one : report.critical) {
    CHECK(one.rounds + one.incomplete_rounds + one.failed_rounds <= records);
    CHECK(is_sound(one.iteration, one.rounds));
    CHECK((one.iteration.count == 0 || one.iteration.min >= 0));
    for (std::size_t cause = 0; cause < causes; ++cause)
      if (cause != static_cast<std::size_t>(Cause::network)) CHECK(one.by_cause[cause] >= 0);
  }
  for (const JoinReport& join : report.joins) {
    std::uint64_t last = 0, left_first = 0, left_last = 0;
    for (const JoinReport::Contributor& from : join.contributors) {
      last += from.last;
      left_first += from.left_first;
      left_last += from.left_last;
      CHECK(is_sound(from.arrival_wait, join.rounds));
      CHECK(from.arrival_wait.min >= 0);
    }
    CHECK(last == join.rounds);
    CHECK(left_first <= join.rounds);
    CHECK(left_last == left_first);
    CHECK(is_sound(join.through, join.rounds));
    CHECK(join.through.min >= 0);
    CHECK(join.late_replies <= join.rounds);
  }
  for (const LinkReport& link : report.links) {
    CHECK(is_sound(link.travel, records));
    CHECK(link.travel.min >= 0);
  }
  for (const CrossingReport& crossing : report.crossings) {
    CHECK(is_sound(crossing.two_way, records));
    CHECK(crossing.two_way.min >= -1000 * ms);
  }
  for (const PathReport& path : report.paths) CHECK(is_sound(path.total, records));
}

void check_threads(const Report& report, std::uint64_t records) {
  for (const ThreadReport& thread : report.threads) {
    CHECK(is_sound(thread.computation, records));
    CHECK(thread.computation.min >= 0);
    CHECK(is_share(thread.noise_share));
    CHECK(thread.outliers <= thread.computation.count);
    CHECK(thread.base_nanos >= 0);
    for (const auto& period : thread.periods) CHECK(period.nanos > 0);
    CHECK(thread.critical_noise_nanos <= thread.noise_nanos);
  }
  for (const LatenessReport& one : report.lateness) {
    CHECK(one.effective_noise_nanos >= 0);
    CHECK(one.effective_noise_nanos <= one.noise_nanos);
    CHECK(one.hideable_wan_nanos >= 0);
    CHECK(one.noise_amplification >= 0);
    CHECK(one.iterations <= records);
    CHECK(std::is_sorted(one.over.rbegin(), one.over.rend()));
    CHECK(one.over[0] <= one.iterations);
  }
  for (const Series& series : report.series) {
    CHECK(series.rows.size() <= 256);
    for (const Blocks::Row& row : series.rows) CHECK(std::isfinite(row.sum));
  }
}

std::uint64_t count_of(const std::vector<Records>& records) {
  std::uint64_t count = 0;
  for (const Records& some : records) count += some.size();
  return count;
}

sample::Options drawn(Random& random) {
  sample::Options options;
  options.hosts = 1 + static_cast<std::uint32_t>(random.below(3));
  options.threads = 1 + static_cast<std::uint32_t>(random.below(3));
  options.passed_through = static_cast<std::uint32_t>(random.below(2));
  options.names_the_last = random.chance(0.5);
  return options;
}

/// Returns whether the analysis leaves out a round because its records contradict each other.
/// `first`, `second` and `third` are the durations of the round at three collectors. Each collector
/// is further down the path than the collector before it, so its duration should be shorter. The
/// first two collectors are on host a-0. The third collector is on host b-0, which has a clock of
/// its own.
bool is_left_out(std::int64_t first, std::int64_t second, std::int64_t third) {
  Structure structure;
  structure.clusters = {"a"};
  structure.hosts = {{"a-0", 0, 0, 1}, {"b-0", 0, 1, 0}};
  sample::add_stages(structure, {{"", "event_collector", 0, 1, "", ""},
                                 {"", "event_collector", 0, 1, "", ""},
                                 {"", "forward", 0, 1, "to: b-0", ""},
                                 {"", "event_collector", 1, 1, "", ""},
                                 {"", "store", 1, 1, "", ""}});
  structure.paths = {{"log", 0, 0, 1, 0, 0}};
  Analysis analysis(structure);
  const auto add = [&](std::uint32_t stage, std::int64_t begin, std::int64_t span) {
    EventRecord record;
    record.place = stage;
    record.kind = move_operation;
    record.down_nanos = begin;
    record.up_nanos = begin + span;
    analysis.add(structure.host_of(stage), std::span(&record, 1));
  };
  add(3, 77'000 * ms, third);
  add(1, 100 * ms, second);
  add(0, 100 * ms, first);
  const Report report = analysis.finish();
  REQUIRE(report.crossings.size() == 1);
  CHECK(report.crossings[0].two_way.count + report.coverage.contradictory == 1);
  return report.coverage.contradictory == 1;
}

/// Calls `check` with a random run for each seed.
void for_each_seed(const std::function<void(Random&, sample::Run&)>& check) {
  const std::uint64_t first = test_support::from_environment("PATHS_SEED", 1);
  const std::uint64_t end = first + test_support::from_environment("PATHS_SEEDS", 100);
  for (std::uint64_t seed = first; seed < end; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    sample::Run run(drawn(random));
    check(random, run);
  }
}

}  // namespace

TEST_CASE("analysis: times of two hosts may contradict each other by 1 ms and 0.1%") {
  // A round is left out if an inner part of an operation seems to take much longer than the whole
  // operation. A small difference is tolerated, because the two hosts have different clocks.
  CHECK_FALSE(is_left_out(2 * ms, 2 * ms, 2 * ms));
  CHECK_FALSE(is_left_out(2 * ms, 2 * ms, 2 * ms + 990 * us));
  CHECK(is_left_out(2 * ms, 2 * ms, 2 * ms + 1'010 * us));
  CHECK_FALSE(is_left_out(10'000 * ms, 10'000 * ms, 10'000 * ms + 10'990 * us));
  CHECK(is_left_out(10'000 * ms, 10'000 * ms, 10'000 * ms + 11'030 * us));
}

TEST_CASE("analysis: times of one host must not contradict each other because they share a clock") {
  CHECK_FALSE(is_left_out(2 * ms, 2 * ms, 1 * ms));
  CHECK(is_left_out(2 * ms, 2 * ms + 1, 1 * ms));
}

TEST_CASE("analysis: lost or repeated or reordered records leave correct figures and no findings") {
  for_each_seed([](Random& random, sample::Run& run) {
    auto records = records_of(run, 20 + random.below(60), random.chance(0.5));
    for (Records& some : records)
      if (random.chance(0.5)) lose_and_mix(some, random);
    const std::uint64_t count = count_of(records);
    const Report report = analyse(run.structure, records, random);
    check_rounds(report, count);
    check_threads(report, count);
    CHECK(report.findings.empty());
    CHECK(report.coverage.records == count);
    CHECK(report.coverage.unknown == 0);
    CHECK(report.coverage.contradictory == 0);
    for (const ThreadReport& thread : report.threads) {
      CHECK(thread.computation.min == 30 * ms);
      CHECK(thread.computation.max == 30 * ms);
    }
    for (const CrossingReport& crossing : report.crossings) {
      CHECK((crossing.two_way.count == 0 || crossing.two_way.min == 100 * us));
      CHECK((crossing.two_way.count == 0 || crossing.two_way.max == 100 * us));
    }
  });
}

TEST_CASE("analysis: forged records leave all figures in their possible range") {
  for_each_seed([](Random& random, sample::Run& run) {
    auto records = records_of(run, 20 + random.below(60), true);
    for (Records& some : records) {
      if (random.chance(0.5)) lose_and_mix(some, random);
      if (random.chance(0.7)) forge(some, random);
    }
    const std::uint64_t count = count_of(records);
    const Report report = analyse(run.structure, records, random);
    check_rounds(report, count);
    check_threads(report, count);
    CHECK(!to_text(report, 20).empty());
    CHECK(to_json(report).dump().find("null") == std::string::npos);
    CHECK(compare(report, report).differences == 0);
  });
}
