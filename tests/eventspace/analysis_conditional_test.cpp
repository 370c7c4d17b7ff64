// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/analysis_conditional_test.cpp — waits for other clusters' values, classified.
#include <catch2/catch.hpp>

#include "eventspace/analysis/analysis.hpp"
#include "tests/eventspace/sample_run.hpp"

namespace {

using namespace eventspace;
using sample::ms;
using sample::us;

/// Thread a-0/0, a condition check that combines clusters a, b and c, and a prefetch from b over
/// one forward: 10 ms two-way.
class Checked {
 public:
  Checked() {
    structure.clusters = {"a", "b", "c"};
    structure.hosts = {{"a-0", 0, 0, 1}, {"b-0", 1, 1, 0}, {"c-0", 2, 1, 0}};
    structure.wrappers = {{"", "event_collector", 0, 1, "", ""},
                          {"sum.join", "allreduce", 0, 1, "", ""},
                          {"", "event_collector", 0, 1, "", ""},
                          {"", "condition_check", 0, 1, "", "c.yaml:7:3", {0, 1, 2}},
                          {"", "event_collector", 0, 1, "", ""},
                          {"", "store", 0, 1, "", ""},
                          {"", "prefetch", 0, 1, "", ""},
                          {"", "event_collector", 0, 1, "", ""},
                          {"", "forward", 0, 1, "to: b-0", ""},
                          {"", "event_collector", 1, 1, "", ""},
                          {"", "observe", 1, 1, "", ""}};
    for (std::uint32_t stage = 0; stage < 11; ++stage)
      structure.stages.push_back({stage, stage == 5 || stage == 10 ? no_stage : stage + 1, 0, 0});
    structure.paths = {{"sum", 0, 0, 1, 0, 0}, {"sum", 0, 0, 0, 0, 6}};
    analysis = std::make_unique<Analysis>(structure);
  }

  /// A round that the check begins to decide at `at` and has decided `decided` later.
  void round(std::uint64_t sequence, std::int64_t at, std::int64_t decided, bool is_proved) {
    const std::uint8_t flags = is_proved ? event_proved : std::uint8_t{0};
    add(0, operation(4, sequence, at - 5 * us, at, 0));
    add(0, operation(2, sequence, at - 6 * us, at + decided, flags));
    add(0, operation(0, sequence, at - 7 * us, at + decided, flags));
  }
  void read(std::uint64_t sequence, std::uint32_t slot, std::int64_t at, std::int64_t wait,
            std::uint8_t flags, std::uint32_t ahead = 0) {
    EventRecord record = operation(3, sequence, at, at + wait, flags);
    record.kind = static_cast<std::uint64_t>(EventKind::cache_read);
    record.slot = slot;
    record.bytes = ahead;
    add(0, record);
  }
  /// The far side has its own clock, and the read blocks there.
  void prefetch(std::uint64_t sequence, std::int64_t at, std::int64_t blocks) {
    EventRecord far = operation(9, sequence, 77'000 * ms + at, 77'000 * ms + at + blocks, 0);
    EventRecord near = operation(7, sequence, at, at + blocks + 10 * ms, 0);
    far.kind = near.kind = 4;
    add(1, far);
    add(0, near);
    near.kind = static_cast<std::uint64_t>(EventKind::prefetch);
    near.place = 6;
    add(0, near);
  }

  Structure structure;
  std::unique_ptr<Analysis> analysis;

 private:
  static EventRecord operation(std::uint32_t stage, std::uint64_t sequence, std::int64_t down,
                               std::int64_t up, std::uint8_t flags) {
    EventRecord record;
    record.place = stage;
    record.sequence = sequence;
    record.kind = 1;
    record.down_nanos = down;
    record.up_nanos = up;
    record.flags = flags;
    return record;
  }
  void add(std::uint32_t host, const EventRecord& record) {
    analysis->add(host, std::span(&record, 1));
  }
};

}  // namespace

TEST_CASE("analysis: cache waits are cached, in flight up to one-way, or late") {
  Checked run;
  for (std::uint64_t number = 0; number < 5; ++number)
    run.prefetch(number, static_cast<std::int64_t>(number) * 100 * ms, 30 * ms);
  // Round 0 needs nobody; 1 a cached value of b; 2 one in flight; 3 a late one of b, then c's; in
  // 4 c's is wanted and the round decided without.
  run.round(0, 100 * ms, 2 * us, true);
  run.read(1, 1, 200 * ms, 1 * us, event_cached, 3);
  run.round(1, 200 * ms, 3 * us, true);
  run.read(2, 1, 300 * ms, 4 * ms, 0);
  run.round(2, 300 * ms, 4 * ms, true);
  run.read(3, 1, 400 * ms, 6 * ms, 0);
  run.read(3, 2, 400 * ms, 9 * ms, 0);
  run.round(3, 400 * ms, 9 * ms, false);
  run.read(4, 1, 500 * ms, 1 * us, event_cached);
  run.read(4, 2, 500 * ms, 2 * us, event_undecided);
  run.round(4, 500 * ms, 2 * us, true);
  const Report report = run.analysis->finish();
  INFO(to_text(report));
  REQUIRE(report.conditionals.size() == 1);
  const ConditionalReport& check = report.conditionals[0];
  CHECK(check.operations == 5);
  CHECK(check.proved == 4);
  CHECK(check.by_values_needed == std::vector<std::uint64_t>{1, 3, 1});
  CHECK(check.time_to_decide.min == 2 * us);
  CHECK(check.time_to_decide.p50 == 3 * us);
  CHECK(check.time_to_decide.max == 9 * ms);
  REQUIRE(check.decision_times.size() == 5);
  CHECK(check.decision_times[3].mean_nanos == 9 * ms);
  REQUIRE(check.remotes.size() == 2);
  const ConditionalReport::Remote& b = check.remotes[0];
  CHECK(b.cluster == "b");
  CHECK(b.one_way_half_nanos == 5 * ms);
  CHECK(b.reads == 4);
  CHECK(b.cached == 2);
  CHECK(b.cached_share == Approx(0.5));
  CHECK(check.cached_share == Approx(0.4));
  CHECK(b.in_flight == 1);
  CHECK(b.late == 1);
  CHECK(b.first == 4);
  CHECK(b.wait.max == 6 * ms);
  CHECK(b.ahead.max == 3);
  CHECK(b.prefetch.count == 5);
  CHECK(b.prefetch.p50 == 40 * ms);
  const ConditionalReport::Remote& c = check.remotes[1];
  CHECK(c.cluster == "c");
  CHECK(c.one_way_half_nanos == -1);  // no prefetch of it is in this plan
  CHECK(c.reads == 1);
  CHECK(c.unused == 1);
  CHECK(c.first == 0);
}

TEST_CASE("analysis: waiting for other clusters is a cause of its own on the critical path") {
  Checked run;
  for (std::uint64_t number = 0; number < 10; ++number)
    run.round(number, static_cast<std::int64_t>(number + 1) * 100 * ms, 20 * ms, false);
  const Report report = run.analysis->finish();
  REQUIRE(report.critical.size() == 1);
  const auto check = report.critical[0].by_cause[static_cast<std::size_t>(Cause::check)];
  CHECK(check == 10 * (20 * ms + 1 * us));
}

TEST_CASE("analysis: decision times of a long run are kept in few rows, with their extremes") {
  Checked run;
  for (std::uint64_t number = 0; number < 20'000; ++number)
    run.round(number, static_cast<std::int64_t>(number + 1) * ms, number == 12'345 ? 500 * us : us,
              true);
  const Report report = run.analysis->finish();
  const auto& times = report.conditionals.at(0).decision_times;
  CHECK(times.size() == 1250);  // of 16 rounds each
  CHECK(times[12'345 / 16].max_nanos == 500 * us);
  CHECK(times[12'345 / 16].sequence == 12'345 / 16 * 16);
  CHECK(times[0].mean_nanos == us);
}
