// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/analysis_pushes_test.cpp — figures of tuples that are pushed to another cluster,
// and of the condition checks that use them.
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "eventspace/analysis/analysis.hpp"
#include "tests/eventspace/sample_run.hpp"

namespace {

using namespace eventspace;
using sample::ms;

/// A run with the thread a-0/0, and a condition check that combines the values in `sum.result.a`
/// and `sum.cache.b2`. Host b-0 pushes values into `sum.cache.b2`. It pushes requests into another
/// element of host a-0.
class Pushes {
 public:
  explicit Pushes(const std::string& asked) {
    structure_.clusters = {"a", "b"};
    structure_.hosts = {{"a-0", 0, 0, 1}, {"b-0", 1, 1, 0}};
    const std::string check =
        "result: sum.result.a\n"
        "combine: [sum.result.a, sum.cache.b2]\n"
        "asks: [sum.asks.b2]";
    sample::add_stages(structure_, {{"", "event_collector", 0, 1, "", ""},
                                    {"", "condition_check", 0, 1, check, "", {0, 1}},
                                    {"", "event_collector", 0, 1, "", ""},
                                    {"", "store", 0, 1, "element: sum.result.a", ""}});
    structure_.paths = {{"sum", 0, 0, 1, 0, 0}};
    for (const std::string& element : {std::string("sum.cache.b2"), asked}) {
      structure_.paths.push_back({"sum", 1, 0, 0, 0, add_push(element)});
    }
    AnalysisOptions options;
    options.has_common_clock = true;
    analysis_ = std::make_unique<Analysis>(structure_, options);
  }

  void push_value(std::uint64_t sequence, std::int64_t one_way) { push(4, sequence, one_way); }
  void push_ask(std::uint64_t sequence, std::int64_t one_way) { push(9, sequence, one_way); }
  /// Adds the records of one read on the path of the values. The thread that reads waits for its
  /// result.
  void read(std::uint64_t sequence, std::int64_t one_way) {
    constexpr std::uint64_t observe_operation = 2;
    pass(5, sequence, observe_operation, 0, 2 * one_way, 0);
    pass(7, sequence, observe_operation, one_way, one_way, 0);
  }
  Report finish() { return analysis_->finish(); }

  static constexpr std::uint32_t bytes = 40;

 private:
  /// Adds the stages of a push into `element`. Returns the first stage.
  std::uint32_t add_push(const std::string& element) {
    return sample::add_stages(structure_, {{"", "push", 1, 1, "", ""},
                                           {"", "event_collector", 1, 1, "", ""},
                                           {"", "forward", 1, 1, "to: a-0", ""},
                                           {"", "event_collector", 0, 1, "", ""},
                                           {"", "store", 0, 1, "element: " + element, ""}});
  }
  void push(std::uint32_t stage, std::uint64_t sequence, std::int64_t one_way) {
    pass(stage, sequence, static_cast<std::uint64_t>(EventKind::prefetch), 0, 0, event_one_way);
    pass(stage + 1, sequence, move_operation, 0, 0, event_one_way);
    pass(stage + 3, sequence, move_operation, one_way, one_way, event_one_way);
  }
  /// Adds the record of an operation that passes the stage. Successive operations begin 100 ms
  /// after each other.
  void pass(std::uint32_t stage, std::uint64_t sequence, std::uint64_t kind, std::int64_t down,
            std::int64_t up, std::uint8_t flags) {
    const std::int64_t begin = static_cast<std::int64_t>(sequence + 1) * 100 * ms;
    EventRecord record;
    record.place = stage;
    record.sequence = sequence;
    record.kind = kind;
    record.down_nanos = begin + down;
    record.up_nanos = begin + up;
    record.bytes = bytes;
    record.flags = flags;
    analysis_->add(structure_.host_of(stage), std::span(&record, 1));
  }

  Structure structure_;
  std::unique_ptr<Analysis> analysis_;
};

/// Makes a run in which `values` values of cluster b are pushed, and in which `asks` requests are
/// pushed into the element `asked`. Returns the report on the values of cluster b.
ConditionalReport::Remote pushed(const std::string& asked, std::uint64_t values,
                                 std::uint64_t asks) {
  Pushes pushes(asked);
  for (std::uint64_t number = 0; number < values; ++number) pushes.push_value(number, 6 * ms);
  for (std::uint64_t number = 0; number < asks; ++number) pushes.push_ask(number, 9 * ms);
  const Report report = pushes.finish();
  REQUIRE(report.conditionals.size() == 1);
  REQUIRE(report.conditionals[0].remotes.size() == 1);
  CHECK(report.conditionals[0].remotes[0].cluster == "b");
  return report.conditionals[0].remotes[0];
}

}  // namespace

TEST_CASE("analysis: a push is one message between hosts and an operation with a result is two") {
  constexpr std::uint64_t rounds = 10;
  for (const bool are_pushed : {true, false}) {
    Pushes pushes("sum.asked.b2");
    for (std::uint64_t number = 0; number < rounds; ++number) {
      if (are_pushed)
        pushes.push_value(number, 6 * ms);
      else
        pushes.read(number, 6 * ms);
    }
    const Report report = pushes.finish();
    INFO((are_pushed ? "pushes" : "reads"));
    const std::uint64_t replies = are_pushed ? 0 : rounds;
    REQUIRE(report.crossings.size() == 2);
    const CrossingReport& crossing = report.crossings[0];
    CHECK(crossing.messages == rounds + replies);
    CHECK(crossing.payload_bytes == rounds * Pushes::bytes);
    CHECK(crossing.two_way.count == replies);
    CHECK(crossing.down_one_way.count == rounds);
    CHECK(crossing.up_one_way.count == replies);
    CHECK(report.crossings[1].messages == 0);
    REQUIRE(report.clusters.size() == 2);
    CHECK(report.clusters[1].wan_messages == rounds + replies);
    CHECK(report.clusters[1].wan_payload_bytes == rounds * Pushes::bytes);
    CHECK(report.transfers.all.messages == rounds + replies);
    REQUIRE(report.transfers.paths.size() == (are_pushed ? 1 : 2));
    for (const TransferReport& path : report.transfers.paths) CHECK(path.messages == rounds);
  }
}

TEST_CASE(
    "analysis: pushes into an element that a check combines are its prefetches and requests are "
    "not") {
  const ConditionalReport::Remote values = pushed("sum.asked.b2", 5, 3);
  CHECK(values.prefetch.count == 5);
  CHECK(values.one_way_half_nanos == 6 * ms);
}

TEST_CASE("analysis: a check matches elements by their whole names and not by parts") {
  for (const std::string asked : {"sum.cache.b", "sum.cache", "cache.b2", "b2", "um.cache.b2"}) {
    INFO(asked);
    const ConditionalReport::Remote values = pushed(asked, 5, 3);
    CHECK(values.prefetch.count == 5);
    CHECK(values.one_way_half_nanos == 6 * ms);
  }
}
