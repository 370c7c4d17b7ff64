// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/analysis_conditional_test.cpp — classification of the times that condition
// checks wait for other clusters.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "eventspace/analysis/analysis.hpp"
#include "tests/eventspace/sample_run.hpp"

namespace {

using namespace eventspace;
using sample::ms;
using sample::us;

/// A run with the thread a-0/0, and a condition check that combines the values of the clusters a, b
/// and c. A prefetch fetches values from b. The prefetch crosses to another host once, which takes
/// 10 ms there and back.
class Checked {
 public:
  Checked() {
    structure.clusters = {"a", "b", "c"};
    structure.hosts = {{"a-0", 0, 0, 1}, {"b-0", 1, 1, 0}, {"c-0", 2, 1, 0}};
    sample::add_stages(structure, {{"", "event_collector", 0, 1, "", ""},
                                   {"sum.join", "allreduce", 0, 1, "", ""},
                                   {"", "event_collector", 0, 1, "", ""},
                                   {"", "condition_check", 0, 1, "", "c.yaml:7:3", {0, 1, 2}},
                                   {"", "event_collector", 0, 1, "", ""},
                                   {"", "store", 0, 1, "", ""}});
    sample::add_stages(structure, {{"", "prefetch", 0, 1, "", ""},
                                   {"", "event_collector", 0, 1, "", ""},
                                   {"", "forward", 0, 1, "to: b-0", ""},
                                   {"", "event_collector", 1, 1, "", ""},
                                   {"", "observe", 1, 1, "", ""}});
    structure.paths = {{"sum", 0, 0, 1, 0, 0}, {"sum", 0, 0, 0, 0, 6}};
    analysis = std::make_unique<Analysis>(structure);
  }

  /// Adds a round. The check begins its decision at time `at` and ends it after the duration
  /// `decided`.
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
  /// Adds the records of one read of a prefetch. The other host has a clock of its own. The read
  /// waits on that host for the time `blocks`.
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
  /// Adds the record of `host` of a read by the prefetch. `sequence` is the number of the tuple, or
  /// for a failed read the sequence of the operation.
  void read_by_prefetch(std::uint32_t host, std::uint64_t sequence, std::int64_t at,
                        std::uint8_t flags) {
    EventRecord record = operation(host == 0 ? 7 : 9, sequence, at, at + 10 * ms, flags);
    record.kind = 4;
    add(host, record);
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

TEST_CASE("analysis: a wait for a cache is cached or in flight up to one-way or late") {
  Checked run;
  for (std::uint64_t number = 0; number < 5; ++number)
    run.prefetch(number, static_cast<std::int64_t>(number) * 100 * ms, 30 * ms);
  // Round 0 needs no other cluster. Round 1 uses a value of b that had arrived before (cached).
  // Round 2 waits for a value of b that was on its way (in flight). Round 3 waits for a late value
  // of b, then for the value of c. Round 4 begins to wait for the value of c, but is decided before
  // this value arrives.
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
  INFO(to_text(report, 20));
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
  CHECK(b.by_place == std::vector<std::uint64_t>{4, 0});
  CHECK(b.wait.max == 6 * ms);
  CHECK(b.ahead.max == 3);
  CHECK(b.prefetch.count == 5);
  CHECK(b.prefetch.p50 == 40 * ms);
  const ConditionalReport::Remote& c = check.remotes[1];
  CHECK(c.cluster == "c");
  CHECK(c.one_way_half_nanos == -1);  // in this plan no prefetch fetches values of c
  CHECK(c.reads == 1);
  CHECK(c.unused == 1);
  CHECK(c.by_place == std::vector<std::uint64_t>{0, 1});
  REQUIRE(check.together.size() == 2);
  CHECK(check.together[0].clusters == std::vector<std::string>{"b"});
  CHECK(check.together[0].operations == 3);
  CHECK(check.together[0].all_cached == 2);
  CHECK(check.together[1].clusters == std::vector<std::string>{"b", "c"});
  CHECK(check.together[1].operations == 1);
  CHECK(check.together[1].all_cached == 0);
}

TEST_CASE("analysis: a failed read is not taken for the read of a tuple of the same number") {
  Checked run;
  for (const std::uint32_t host : {1, 0}) {
    run.read_by_prefetch(host, 7, 100 * ms, event_numbered);
    run.read_by_prefetch(host, 9, 200 * ms, event_numbered);
    run.read_by_prefetch(host, 7, 300 * ms, event_failed);  // the path's operation 7
  }
  const Report report = run.analysis->finish();
  CHECK(report.coverage.repeated == 0);
  CHECK(report.coverage.late == 0);
}

TEST_CASE("analysis: values are ordered by their arrival and not by their slots") {
  Checked run;
  for (std::uint64_t number = 0; number < 30; ++number) {
    const auto at = static_cast<std::int64_t>(number + 1) * 100 * ms;
    const bool is_b_first = number % 3 == 0;
    run.read(number, 1, at, is_b_first ? 1 * ms : 8 * ms, 0);
    run.read(number, 2, at, is_b_first ? 8 * ms : 1 * ms, 0);
    run.round(number, at, 8 * ms, false);
  }
  const auto remotes = run.analysis->finish().conditionals.at(0).remotes;
  CHECK(remotes.at(0).by_place == std::vector<std::uint64_t>{10, 20});
  CHECK(remotes.at(1).by_place == std::vector<std::uint64_t>{20, 10});
}

TEST_CASE("analysis: values that arrived before they were requested count as needed") {
  // On the virtual clock, a read of a value that had arrived before takes no time. Only the number
  // of such reads shows that the values were used.
  Checked run;
  for (std::uint64_t number = 0; number < 5000; ++number) {
    const auto at = static_cast<std::int64_t>(number + 1) * ms;
    if (number % 100 == 7) run.read(number, 1, at, 0, event_cached);
    run.round(number, at, 0, true);
  }
  const Report report = run.analysis->finish();
  const ConditionalReport& check = report.conditionals.at(0);
  CHECK(check.by_values_needed == std::vector<std::uint64_t>{4950, 50, 0});
  std::uint64_t needing = 0;
  for (const auto& point : check.decision_times) {
    CHECK(point.max_nanos == 0);
    CHECK(point.needed_max == (point.needing > 0 ? 1 : 0));
    needing += point.needing;
  }
  CHECK(needing == 50);
  const auto json = to_json(report)["conditionals"][0];
  CHECK(json["values_needed_sequence_operations_max"].size() == check.decision_times.size());
}

TEST_CASE("analysis: sets of clusters that were needed together are kept up to a limit") {
  Checked run;
  run.structure.wrappers[3].combines.assign(10, 1);
  run.structure.wrappers[3].combines[0] = 0;
  run.analysis = std::make_unique<Analysis>(run.structure);
  for (std::uint64_t number = 0; number < 512; ++number) {
    const auto at = static_cast<std::int64_t>(number + 1) * ms;
    for (std::uint32_t slot = 1; slot < 10; ++slot)
      if ((number >> (slot - 1) & 1) != 0) run.read(number, slot, at, us, 0);
    run.round(number, at, us, true);
  }
  const ConditionalReport check = run.analysis->finish().conditionals.at(0);
  CHECK(check.together.size() == 64);
  CHECK(check.other_together == 511 - 64);
}

TEST_CASE("analysis: at most one one-way latency of a wait for another cluster is WAN time") {
  // In every second round, thread a-0/0 is 3 ms late. If the root had fetched the values of other
  // clusters in those 3 ms, it would wait up to 3 ms less. The analysis calls this time hideable.
  Checked run;
  std::int64_t at = 0;
  for (std::uint64_t number = 0; number < 100; ++number) {
    at += 100 * ms + (number % 2 == 0 ? 3 * ms : 0);
    run.prefetch(number, at, 30 * ms);
    const std::int64_t wait = number % 4 < 2 ? 2 * ms : 9 * ms;
    run.read(number, 1, at, wait, 0);
    run.round(number, at, wait, false);
    at += wait;
  }
  const LatenessReport lateness = run.analysis->finish().lateness.at(0);
  CHECK(lateness.critical_wan_two_way_nanos == 0);
  CHECK(lateness.check_wan_one_way_nanos == 50 * 2 * ms + 50 * 5 * ms);
  CHECK(lateness.hideable_wan_nanos == 0);
  // The late rounds wait 2 ms or 9 ms, so 2 ms or 3 ms are hideable. The first round does not
  // count, because the trace does not show how long its computation took.
  CHECK(lateness.hideable_check_wan_nanos == Approx(24.0 * 2 * ms + 25.0 * 3 * ms).margin(ms));
}

TEST_CASE("analysis: waiting for other clusters is a separate cause on the critical path") {
  Checked run;
  for (std::uint64_t number = 0; number < 10; ++number)
    run.round(number, static_cast<std::int64_t>(number + 1) * 100 * ms, 20 * ms, false);
  const Report report = run.analysis->finish();
  REQUIRE(report.critical.size() == 1);
  const auto check = report.critical[0].by_cause[static_cast<std::size_t>(Cause::check)];
  CHECK(check == 10 * (20 * ms + 1 * us));
}

TEST_CASE("analysis: decision times of a long run are kept in few rows with their extremes") {
  Checked run;
  for (std::uint64_t number = 0; number < 20'000; ++number)
    run.round(number, static_cast<std::int64_t>(number + 1) * ms, number == 12'345 ? 500 * us : us,
              true);
  const Report report = run.analysis->finish();
  const auto& times = report.conditionals.at(0).decision_times;
  CHECK(times.size() == 1250);  // each row is the sum of 16 rounds
  CHECK(times[12'345 / 16].max_nanos == 500 * us);
  CHECK(times[12'345 / 16].sequence == 12'345 / 16 * 16);
  CHECK(times[0].mean_nanos == us);
}
