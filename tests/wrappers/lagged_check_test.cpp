// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/lagged_check_test.cpp — late decisions of one root; the test plays the other
// clusters.
#include "wrappers/lagged_check.hpp"

#include <catch2/catch.hpp>

#include "eventspace/record.hpp"
#include "paths/joins/cluster_tuples.hpp"
#include "tests/support/snapshot.hpp"
#include "tests/wrappers/one_root.hpp"

namespace {

using base::Nanos;
using paths::Condition;
using paths::Origin;
using paths::Result;
using namespace std::chrono_literals;
using namespace wrapper_tests;

/// Returns a tuple of the values of consecutive rounds, beginning with `first`.
base::Payload batch(std::uint64_t first, const std::vector<double>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return paths::batch_tuple({first, 1, base::Payload::copy_of(bytes)});
}

Entries settings_of(const char* rounds, const char* every) {
  return {{word("rounds"), word(rounds)},
          {word("every"), word(every)},
          {word("template"), word("f64")},
          {word("condition"), base::Settings::map({{word("less"), word("10")}})},
          {word("result"), word("b")},
          {word("combine"), base::Settings::list({word("a"), word("b"), word("c")})}};
}

struct Root : OneRoot {
  explicit Root(const char* rounds, const char* every = "1") {
    for (const char* name : {"a", "b", "c"})
      builder.plan().elements.push_back({name, 0, paths::batch_template(), 0, 0, {}, {}});
    const auto check =
        builder.wrapper("lagged_check", "check", base::Settings::map(settings_of(rounds, every)));
    builder.path("graph", 1, {check, builder.wrapper("store", "store", {{"element", "b"}})});
    here.emplace(builder);
  }
  void come(const char* name, std::uint64_t first, const std::vector<double>& values) {
    element(name).move(batch(first, values));
  }
};

}  // namespace

TEST_CASE("lagged_check: the first rounds have no condition and do not wait") {
  Root t("2");
  t.run([&] {
    for (const std::uint64_t sequence : {0, 1}) {
      const Result result = t.move(sequence, 4);
      CHECK(result.condition == Condition::unchecked);
      CHECK(result.sequence == sequence);
      CHECK(value_of(result) == 4);
      CHECK(result.origin.kind == Origin::Kind::local);
    }
    CHECK(t.here->now() == 0ns);
  });
}

TEST_CASE(
    "lagged_check: a result is for an earlier round and complete and in the order of the "
    "clusters") {
  Root t("2");
  t.run([&] {
    t.come("c", 0, {0.1});
    t.come("a", 0, {0.2});
    t.come("a", 1, {20});
    t.move(0, 0.3);
    t.move(1, 1);
    const Result result = t.move(2, 1);
    CHECK(result.sequence == 0);
    CHECK(value_of(result) == (0.2 + 0.3) + 0.1);
    CHECK(result.condition == Condition::holds);
    CHECK_FALSE(result.proved);
    CHECK(result.contributions == 3);
    t.come("c", 1, {0});
    CHECK(t.move(3, 1).condition == Condition::fails);
  });
}

TEST_CASE(
    "lagged_check: values are sent once in whole batches and a partial last batch is not sent") {
  Root t("3", "3");
  t.run([&] {
    for (const char* name : {"a", "c"}) t.come(name, 0, {1, 1, 1});
    for (std::uint64_t round = 0; round < 5; ++round) t.move(round, 1.0 + round);
    CHECK(t.element("b").last() == 1);
    CHECK(t.element("b").observe(std::uint64_t{0}).payload == batch(0, {1, 2, 3}));
    t.move(5, 6);
    CHECK(t.element("b").observe(std::uint64_t{1}).payload == batch(3, {4, 5, 6}));
  });
}

TEST_CASE("lagged_check: it waits for the last value and records the cluster and the time") {
  Root t("1");
  t.run([&] {
    t.at(5ms, [&] { t.come("c", 0, {1, 1}); });
    t.at(9ms, [&] { t.come("a", 0, {2}); });
    t.move(0, 3);
    t.here->sleep(2ms);
    Result result = t.move(1, 3);
    CHECK(t.here->now() == 9ms);
    CHECK(value_of(result) == 6);
    CHECK(result.origin.kind == Origin::Kind::waited);
    CHECK(result.origin.cluster == 0);
    CHECK(result.origin.sequence == 0);
    CHECK(result.origin.nanos == Nanos(7ms).count());
    t.come("a", 1, {2});
    t.here->sleep(4ms);
    result = t.move(2, 3);
    CHECK(result.origin.kind == Origin::Kind::cached);
    CHECK(result.origin.cluster == 0);  // an earlier round had found the value of c
    CHECK(result.origin.nanos == 0);    // this round used the value of a without a wait
  });
}

TEST_CASE("lagged_check: values before a mark count and the mark then fails all rounds") {
  Root t("1");
  t.run([&] {
    t.come("a", 0, {1});
    t.element("a").mark_error("a is broken");
    t.come("c", 0, {1});
    t.move(0, 1);
    CHECK(value_of(t.move(1, 1)) == 3);
    CHECK_THAT(t.error(2, 1), Catch::Contains("a is broken"));
    CHECK(t.here->now() == 0ns);  // fails immediately, without a wait for the value of c
    CHECK_THAT(t.element("b").error_mark().value_or("").text, Catch::Contains("a is broken"));
    CHECK_THAT(t.error(3, 1), Catch::Contains("a is broken"));
  });
}

TEST_CASE("lagged_check: a mark ends a wait") {
  Root t("1");
  t.run([&] {
    t.at(5ms, [&] { t.element("c").mark_error("c is broken"); });
    t.move(0, 1);
    CHECK_THAT(t.error(1, 1), Catch::Contains("c is broken"));
    CHECK(t.here->now() == 5ms);
  });
}

TEST_CASE("lagged_check: the error at a deadline is final and names all missing clusters") {
  Root t("1");
  t.builder.set_deadline(50ms);
  t.run([&] {
    t.move(0, 1);
    CHECK_THAT(t.error(1, 1), Catch::Contains("round 0") && Catch::Contains("in a, c"));
    CHECK(t.here->now() == 50ms);
    CHECK(t.element("b").error_mark());
  });
}

TEST_CASE("lagged_check: an error about an invalid contribution is final and names the thread") {
  Root t("2");
  t.run([&] {
    t.move(0, 1);
    const double not_a_number = std::numeric_limits<double>::quiet_NaN();
    CHECK_THAT(t.error(1, not_a_number), Catch::Contains("thread here/0"));
    CHECK(t.element("b").error_mark());
    CHECK_THAT(t.error(2, 1), Catch::Contains("thread here/0"));
  });
}

TEST_CASE("lagged_check: no round may be skipped") {
  Root t("4");
  t.run([&] {
    t.move(0, 1);
    CHECK_THAT(t.error(2, 1), Catch::Contains("round 2 arrived, expected round 1"));
  });
}

TEST_CASE("lagged_check: the end of a thread marks the result at once with the reason") {
  for (const bool has_failed : {false, true}) Root("2").check_mark_at_end(has_failed);
}

TEST_CASE("lagged_check: tuples that were read are discarded") {
  Root t("1");
  t.run([&] {
    for (std::uint64_t round = 0; round < 5; ++round) {
      for (const char* name : {"a", "c"}) t.come(name, round, {1});
      t.move(round, 1);
    }
    CHECK_THROWS_AS(t.element("a").observe(std::uint64_t{3}), pastset::Expired);
  });
}

TEST_CASE("lagged_check: it records a read of each other cluster's value with its wait") {
  Root t("1");
  t.here->host().recorder().reserve(16);
  t.run([&] {
    t.come("a", 0, {1});
    t.at(5ms, [&] { t.come("c", 0, {8}); });
    t.move(0, 3);
    t.move(1, 3);
  });
  const auto records = test_support::snapshot(t.here->host().recorder());
  REQUIRE(records.size() == 2);
  CHECK(records[0].slot == 0);
  CHECK(records[0].flags == eventspace::event_cached);
  CHECK(records[1].slot == 2);
  CHECK(records[1].flags == 0);
  CHECK(+records[1].up_nanos == Nanos(5ms).count());
  for (const auto& record : records) CHECK(record.sequence == 0);
}

TEST_CASE("lagged_check: settings that cannot work are refused") {
  const auto mistakes_of = [](const char* key, const base::Settings& value) {
    return mistakes_with("lagged_check", settings_of("3", "2"), paths::batch_template(), key,
                         value);
  };
  CHECK(mistakes_of("", {}) == "nothing");
  CHECK_THAT(mistakes_of("every", word("4")), Catch::Contains("every"));
  CHECK_THAT(mistakes_of("rounds", {}), Catch::Contains("missing, expected a number of rounds"));
  CHECK_THAT(mistakes_of("combine", {}), Catch::Contains("the batches of all clusters"));
  CHECK_THAT(mistakes_of("combine", two_words("other", "b")),
             Catch::Contains("needs the template"));
}
