// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/condition_check_test.cpp — decisions of one root; the test plays the other
// clusters.
#include "wrappers/condition_check.hpp"

#include <catch2/catch.hpp>

#include "eventspace/record.hpp"
#include "pastset/tuple.hpp"
#include "paths/joins/cluster_tuples.hpp"
#include "tests/support/snapshot.hpp"
#include "tests/wrappers/one_root.hpp"

namespace {

using base::Nanos;
using paths::Condition;
using paths::Result;
using namespace std::chrono_literals;
using namespace wrapper_tests;

const pastset::Template& partial() {
  static const pastset::Template made = paths::partial_template(*pastset::Template::parse("f64"));
  return made;
}

using ExactPair = std::optional<std::pair<std::uint64_t, double>>;

base::Payload tuple(std::uint64_t sequence, double value, ExactPair exact = {}) {
  pastset::TupleWriter writer(partial());
  writer.put(sequence).put(std::uint64_t{1}).put(value);
  writer.put(static_cast<std::uint8_t>(exact.has_value()));
  writer.put(exact ? exact->first : std::uint64_t{0}).put(exact ? exact->second : 0.0);
  return writer.payload();
}

/// Returns the settings of the root of cluster b. The root compares sums of non-negative values
/// with 10. A part of the values can prove that `less: 10` fails. Only all values together can
/// prove that `less: 10` holds.
Entries settings_of(const char* relaxation) {
  return {{word("relaxation"), word(relaxation)},
          {word("template"), word("f64")},
          {word("contributions"), word("non_negative")},
          {word("condition"), base::Settings::map({{word("less"), word("10")}})},
          {word("result"), word("b")}};
}

base::Settings all_clusters() { return base::Settings::list({word("a"), word("b"), word("c")}); }

struct Root : OneRoot {
  explicit Root(const char* relaxation = "conditional", bool is_alone = false,
                const char* ask_for = nullptr) {
    for (const char* name : {"a", "b", "c"}) builder.element(name, partial());
    for (const char* name : {"ask_a", "ask_c"})
      builder.plan().elements.push_back({name, 0, paths::ask_template(), 0, 0, {}, {}});
    Entries entries = settings_of(relaxation);
    if (!is_alone) entries.emplace_back(word("combine"), all_clusters());
    if (ask_for != nullptr) {
      entries.emplace_back(word("asks"), two_words("ask_a", "ask_c"));
      entries.emplace_back(word("ask_for"), word(ask_for));
    }
    const auto check = builder.wrapper("condition_check", "check", base::Settings::map(entries));
    const auto below = builder.does("below", [this](paths::Operation operation, paths::Next next) {
      if (operation.sequence == refused) throw std::runtime_error("no room");
      return next(std::move(operation));
    });
    const auto store = builder.wrapper("store", "store", {{"element", "b"}});
    builder.path("graph", 1, {check, below, store});
    here.emplace(builder);
  }
  void cache(const char* name, const base::Payload& payload) { element(name).move(payload); }
  /// Returns the requests since the last call as text: each cluster and the first round that was
  /// requested, such as "a0 c0".
  std::string asked() {
    std::string all;
    for (const char* name : {"a", "c"}) {
      while (const auto ask = element(("ask_" + std::string(name)).c_str()).try_observe())
        all += (all.empty() ? "" : " ") + std::string(name) +
               std::to_string(paths::read_ask(ask->payload).from);
    }
    return all;
  }

  std::uint64_t refused = ~std::uint64_t{0};
};

}  // namespace

TEST_CASE("condition_check: its own value decides first without reading other clusters") {
  Root t;
  t.run([&] {
    t.cache("a", tuple(0, 1));
    t.cache("c", tuple(0, 1));
    const Result result = t.move(0, 10);
    CHECK(result.condition == Condition::fails);
    CHECK(result.proved);
    CHECK(value_of(result) == 10);
    CHECK(result.contributions == 1);
    CHECK(result.sequence == 0);
  });
}

TEST_CASE(
    "condition_check: it decides after each arrival as soon as a part of the clusters proves") {
  Root t;
  t.run([&] {
    t.at(5ms, [&] { t.cache("c", tuple(0, 8)); });
    t.at(9ms, [&] { t.cache("a", tuple(0, 8)); });
    const Result result = t.move(0, 3);
    CHECK(t.here->now() == 5ms);
    CHECK(result.proved);
    CHECK(value_of(result) == 11);
    CHECK(result.contributions == 2);
  });
}

TEST_CASE("condition_check: a complete result is exact and combined in the order of the clusters") {
  Root t;
  t.run([&] {
    t.at(5ms, [&] { t.cache("c", tuple(0, 0.1)); });
    t.at(9ms, [&] { t.cache("a", tuple(0, 0.2)); });
    const Result result = t.move(0, 0.3);
    CHECK(t.here->now() == 9ms);
    CHECK(result.condition == Condition::holds);
    CHECK_FALSE(result.proved);
    CHECK(value_of(result) == (0.2 + 0.3) + 0.1);
    CHECK(result.contributions == 3);
  });
}

TEST_CASE("condition_check: the tuple carries the newest exact pair and none before the first") {
  Root t;
  t.run([&] {
    t.cache("a", tuple(0, 1));
    t.cache("c", tuple(0, 1));
    t.move(0, 1);
    CHECK(t.element("b").try_newest()->payload == tuple(0, 1));
    t.move(1, 50);
    CHECK(t.element("b").try_newest()->payload == tuple(1, 50, {{0, 3.0}}));
    // The result of round 2 is proved, but not exact. The tuple therefore still carries the pair
    // (round, exact result) of round 0.
    t.move(2, 60);
    CHECK(t.element("b").try_newest()->payload == tuple(2, 60, {{0, 3.0}}));
  });
}

TEST_CASE(
    "condition_check: a pair for the root's round is the result and becomes the root's own pair") {
  Root t;
  t.run([&] {
    t.cache("c", tuple(1, 2, {{0, 7.5}}));
    const Result result = t.move(0, 1);
    // The tuple has the value of round 1, with which the condition of round 0 would fail. But the
    // tuple also contains a pair with which the exact result of round 0 is computed.
    CHECK(result.condition == Condition::holds);
    CHECK_FALSE(result.proved);
    CHECK(value_of(result) == 7.5);
    t.move(1, 50);
    CHECK(t.element("b").try_newest()->payload == tuple(1, 50, {{0, 7.5}}));
  });
}

TEST_CASE(
    "condition_check: a larger sequence without a pair means the outcome that a part can prove") {
  Root t;
  t.run([&] {
    t.cache("a", tuple(0, 2));
    t.cache("c", tuple(1, 2));
    const Result result = t.move(0, 1);
    CHECK(result.condition == Condition::fails);
    CHECK(result.proved);
    // The partial sum is below 10 although the condition fails, so only `condition` is valid.
    CHECK(value_of(result) == 3);
    CHECK(result.sequence == 0);
  });
}

TEST_CASE("condition_check: a tuple of a smaller sequence is stale") {
  Root t;
  t.run([&] {
    t.cache("a", tuple(4, 1));
    t.cache("c", tuple(5, 1));
    t.at(3ms, [&] { t.cache("a", tuple(5, 1)); });
    CHECK(value_of(t.move(5, 1)) == 3);
    CHECK(t.here->now() == 3ms);
  });
}

TEST_CASE("condition_check: exact waits for all clusters or for the pair of a skipped round") {
  Root t("exact");
  t.run([&] {
    t.cache("a", tuple(0, 100));
    t.at(3ms, [&] { t.cache("c", tuple(1, 5, {{0, 103.0}})); });
    const Result result = t.move(0, 1);
    CHECK(t.here->now() == 3ms);
    CHECK(value_of(result) == 103);
    CHECK(result.condition == Condition::fails);
    CHECK_FALSE(result.proved);
  });
}

TEST_CASE("condition_check: alone its value is exact") {
  Root t("exact", true);
  t.run([&] {
    const Result result = t.move(0, 9);
    CHECK_FALSE(result.proved);
    CHECK(result.condition == Condition::holds);
    CHECK(value_of(result) == 9);
  });
}

TEST_CASE("condition_check: alone a failure affects one round and the next one proceeds") {
  Root t("exact", true);
  t.refused = 1;
  t.run([&] {
    CHECK_THAT(t.error(0, -1), Catch::Contains("thread here/0"));
    CHECK_THAT(t.error(1, 1), Catch::Contains("no room"));
    CHECK_FALSE(t.element("b").error_mark());
    CHECK(value_of(t.move(2, 9)) == 9);
  });
}

TEST_CASE("condition_check: a failed contribution is final and marks the result") {
  Root t;
  t.run([&] {
    CHECK_THAT(t.error(3, -1), Catch::Contains("thread here/0") && Catch::Contains("-1"));
    REQUIRE(t.element("b").error_mark());
    CHECK_THAT(t.error(4, 50), Catch::Contains("thread here/0"));
    CHECK(t.element("b").last() == 0);
  });
}

TEST_CASE("condition_check: a refusing store is final and leaves the newest tuple readable") {
  Root t;
  t.refused = 1;
  t.run([&] {
    t.move(0, 50);
    CHECK_THAT(t.error(1, 50), Catch::Contains("no room"));
    CHECK_THAT(t.error(2, 50), Catch::Contains("no room"));
    CHECK(t.element("b").try_newest()->payload == tuple(0, 50));
  });
}

TEST_CASE(
    "condition_check: a root that can decide without a marked cluster does and one that cannot is "
    "marked") {
  Root t;
  t.run([&] {
    t.element("a").mark_error("a is broken");
    CHECK(t.move(0, 50).proved);
    t.cache("c", tuple(1, 6));
    CHECK(t.move(1, 5).proved);
    CHECK_FALSE(t.element("b").error_mark());
    t.at(5ms, [&] { t.cache("c", tuple(2, 6)); });
    CHECK_THAT(t.error(2, 1), Catch::Contains("a is broken"));
    // Although a is broken, the root waits for c until 5 ms, because c alone could have proved the
    // result.
    CHECK(t.here->now() == 5ms);
    CHECK_THAT(t.element("b").error_mark().value().text, Catch::Contains("a is broken"));
  });
}

TEST_CASE("condition_check: after the loss of a cluster no round is decided without it") {
  Root t;
  t.run([&] {
    CHECK(t.move(0, 50).proved);
    t.cache("a", tuple(1, 1));
    t.element("a").mark_error({"a is lost", pastset::MarkCause::loss});
    CHECK(t.move(1, 50).proved);
    CHECK_THAT(t.error(2, 50), Catch::Contains("a is lost"));
    CHECK_THAT(t.element("b").error_mark().value().text, Catch::Contains("a is lost"));
    CHECK(t.element("b").error_mark().value().cause == pastset::MarkCause::loss);
  });
}

TEST_CASE("condition_check: the loss of a cluster ends a wait for another cluster") {
  Root t;
  t.run([&] {
    t.at(5ms, [&] { t.element("a").mark_error({"a is lost", pastset::MarkCause::loss}); });
    CHECK_THAT(t.error(0, 1), Catch::Contains("a is lost"));
    CHECK(t.here->now() == 5ms);
  });
}

TEST_CASE("condition_check: the last tuple of a marked cluster still counts") {
  Root t;
  t.run([&] {
    t.cache("a", tuple(0, 1));
    t.element("a").mark_error("a is broken");
    t.cache("c", tuple(0, 1));
    CHECK(value_of(t.move(0, 1)) == 3);
    t.cache("c", tuple(1, 1));
    CHECK_THAT(t.error(1, 1), Catch::Contains("a is broken"));
  });
}

TEST_CASE("condition_check: exact fails at once if a cluster it needs is marked") {
  Root t("exact");
  t.run([&] {
    t.element("a").mark_error("a is broken");
    CHECK_THAT(t.error(0, 1), Catch::Contains("a is broken"));
    CHECK(t.here->now() == 0ns);
  });
}

TEST_CASE("condition_check: the error at a deadline is final and names the missing clusters") {
  Root t;
  t.builder.set_deadline(50ms);
  t.run([&] {
    t.cache("a", tuple(0, 1));
    const std::string error = t.error(0, 1);
    CHECK(t.here->now() == 50ms);
    CHECK_THAT(error, Catch::Contains("round 0") && Catch::Contains("in c"));
    CHECK(t.element("b").error_mark());
  });
}

TEST_CASE("condition_check: an endless wait is a deadlock that names the elements") {
  Root t;
  CHECK_THROWS_AS(t.run([&] { t.move(0, 1); }), runtime::Deadlock);
}

TEST_CASE("condition_check: rounds are decided one after another in order") {
  Root t;
  t.run([&] {
    std::vector<std::uint64_t> decided;
    std::vector<runtime::Task> rounds;
    for (std::uint64_t round = 0; round < 3; ++round) {
      rounds.push_back(t.here->spawn([&, round] {
        t.move(round, 1);
        decided.push_back(round);
      }));
    }
    for (std::uint64_t round = 0; round < 3; ++round) {
      t.here->sleep(1ms);
      CHECK(t.element("b").last() == round + 1);
      for (const char* name : {"a", "c"}) t.cache(name, tuple(round, 1));
    }
    for (runtime::Task& round : rounds) round.join();
    CHECK(decided == std::vector<std::uint64_t>{0, 1, 2});
  });
}

/// A root that requests tuples of the other clusters. Each request is for `ask_for` tuples.
struct Asker : Root {
  explicit Asker(const char* ask_for = "1") : Root("conditional", false, ask_for) {}
};

TEST_CASE("condition_check: no tuple is requested in a round that the own value decides") {
  Asker t;
  t.run([&] {
    CHECK(t.move(0, 10).origin.kind == paths::Origin::Kind::local);
    CHECK(t.asked().empty());
  });
}

TEST_CASE("condition_check: all clusters are asked once if no known values would decide") {
  Asker t;
  t.run([&] {
    t.at(5ms, [&] {
      CHECK(t.asked() == "a0 c0");
      t.cache("c", tuple(0, 1));
    });
    t.at(9ms, [&] {
      CHECK(t.asked().empty());
      t.cache("a", tuple(0, 1));
    });
    CHECK(value_of(t.move(0, 1)) == 3);
    CHECK(t.asked().empty());
  });
}

TEST_CASE(
    "condition_check: the fewest clusters that would decide with their last values are asked") {
  Asker t;
  t.run([&] {
    t.cache("a", tuple(0, 4));
    t.cache("c", tuple(0, 6));
    t.move(0, 1);  // decided by the cached values
    t.at(5ms, [&] {
      // The root requests tuples from c only. The last value of c, 6, is larger than the last value
      // of a, and would suffice.
      CHECK(t.asked() == "c1");
      t.cache("c", tuple(1, 6));
    });
    CHECK(t.move(1, 5).proved);
    CHECK(t.here->now() == 5ms);
    CHECK(t.asked().empty());
  });
}

TEST_CASE("condition_check: the remaining clusters are asked if the first ones do not decide") {
  Asker t;
  t.run([&] {
    t.cache("a", tuple(0, 4));
    t.cache("c", tuple(0, 6));
    t.move(0, 1);
    t.at(5ms, [&] {
      CHECK(t.asked() == "c1");
      t.cache("c", tuple(1, 1));
    });
    t.at(9ms, [&] {
      CHECK(t.asked() == "a1");
      t.cache("a", tuple(1, 1));
    });
    CHECK(value_of(t.move(1, 5)) == 7);
    CHECK(t.here->now() == 9ms);
  });
}

TEST_CASE("condition_check: of equal last values the first cluster in order is asked") {
  Asker t;
  t.run([&] {
    for (const char* name : {"a", "c"}) t.cache(name, tuple(0, 4));
    t.move(0, 3);
    t.at(5ms, [&] {
      CHECK(t.asked() == "a1");
      t.cache("a", tuple(1, 4));
    });
    CHECK(t.move(1, 6).proved);
  });
}

TEST_CASE("condition_check: a subscription is used up before the next request") {
  Asker t("2");
  t.run([&] {
    t.at(5ms, [&] {
      CHECK(t.asked() == "a0 c0");
      for (const char* name : {"a", "c"}) t.cache(name, tuple(0, 1));
    });
    t.move(0, 1);
    t.at(15ms, [&] {
      CHECK(t.asked().empty());  // a and c have each sent one of two requested tuples
      t.cache("a", tuple(1, 9));
    });
    CHECK(t.move(1, 1).proved);
    t.at(25ms, [&] {
      CHECK(t.asked() == "a2");   // requests from a only: a's last value, 9, would decide
      t.cache("c", tuple(1, 1));  // the second requested tuple of c arrives; its round is too old
    });
    t.at(27ms, [&] {
      CHECK(t.asked().empty());
      t.cache("a", tuple(2, 1));
    });
    t.at(29ms, [&] {
      CHECK(t.asked() == "c2");
      t.cache("c", tuple(2, 8));
    });
    CHECK(value_of(t.move(2, 1)) == 10);
    CHECK(t.here->now() == 29ms);
  });
}

TEST_CASE("condition_check: a marked cluster is not asked and its answer is not awaited") {
  Asker t;
  t.run([&] {
    t.cache("a", tuple(0, 8));
    t.cache("c", tuple(0, 1));
    t.move(0, 1);
    SECTION("marked before") {
      t.element("a").mark_error("a is broken");
      t.at(5ms, [&] { CHECK(t.asked() == "c1"); });
    }
    SECTION("marked when asked") {
      t.at(5ms, [&] {
        CHECK(t.asked() == "a1");
        t.element("a").mark_error("a is broken");
      });
      t.at(7ms, [&] { CHECK(t.asked() == "c1"); });
    }
    t.at(9ms, [&] { t.cache("c", tuple(1, 8)); });
    CHECK(t.move(1, 5).proved);
    CHECK(t.here->now() == 9ms);
  });
}

TEST_CASE("condition_check: with requests by round no round may be skipped") {
  Asker t;
  t.run([&] { CHECK_THAT(t.error(3, 50), Catch::Contains("every round must pass here")); });
}

TEST_CASE(
    "condition_check: a result names its origin and the age of the tuple or the time of the wait") {
  Root t;
  t.run([&] {
    t.cache("a", tuple(0, 8));
    t.here->sleep(3ms);
    const paths::Origin cached = t.move(0, 5).origin;
    CHECK(cached.kind == paths::Origin::Kind::cached);
    CHECK(cached.cluster == 0);
    CHECK(cached.nanos == Nanos(3ms).count());
    t.at(8ms, [&] { t.cache("c", tuple(2, 1)); });
    const paths::Origin waited = t.move(1, 5).origin;
    CHECK(waited.kind == paths::Origin::Kind::waited);
    CHECK(waited.cluster == 2);
    CHECK(waited.sequence == 2);
    CHECK(waited.nanos == Nanos(5ms).count());
  });
}

TEST_CASE(
    "condition_check: a withdrawal marks the result once the last round before it is decided") {
  Root t;
  t.run([&] {
    t.here->operate(t.here->operation(0, 0, 1, paths::OperationKind::withdraw));
    CHECK_FALSE(t.element("b").error_mark());
    t.move(0, 11);  // alone proves that the sum is not less than 10
    CHECK_THAT(t.element("b").error_mark().value_or("").text,
               Catch::Contains("thread here/0 released its path before round 1"));
  });
}

TEST_CASE("condition_check: the end of a thread marks the result at once with the reason") {
  for (const bool has_failed : {false, true}) Root().check_mark_at_end(has_failed);
}

TEST_CASE("condition_check: settings that decide nothing are refused") {
  const auto mistakes_of = [](const char* key, const base::Settings& value) {
    Entries settings = settings_of("conditional");
    settings.emplace_back(word("combine"), two_words("a", "b"));
    return mistakes_with("condition_check", settings, partial(), key, value);
  };
  CHECK(mistakes_of("", {}) == "nothing");
  CHECK_THAT(mistakes_of("condition", {}), Catch::Contains("needs a condition"));
  CHECK_THAT(mistakes_of("contributions", word("any")), Catch::Contains("proves nothing"));
  CHECK_THAT(mistakes_of("template", word("f64[2]")),
             Catch::Contains("only a scalar can be compared"));
  CHECK_THAT(mistakes_of("combine", two_words("a", "a")),
             Catch::Contains("more than once") && Catch::Contains("not listed"));
  CHECK_THAT(mistakes_of("combine", two_words("d", "b")), Catch::Contains("found 'd'"));
  CHECK_THAT(mistakes_of("combine", two_words("other", "b")),
             Catch::Contains("needs the template \"partial: u64, u64, f64, u8, u64, f64\""));
}

TEST_CASE("condition_check: it records the tuples that it read and those that it did not need") {
  Root t;
  t.here->host().recorder().reserve(16);
  t.run([&] {
    t.move(0, 10);  // the result is proved by the root's own value
    CHECK(test_support::snapshot(t.here->host().recorder()).empty());
    t.cache("a", tuple(3, 1));
    t.at(5ms, [&] { t.cache("c", tuple(1, 8)); });
    t.move(1, 3);  // the tuple of a is two rounds ahead, and arrived before the root began to wait
  });
  const auto records = test_support::snapshot(t.here->host().recorder());
  REQUIRE(records.size() == 2);
  CHECK(records[0].slot == 0);
  CHECK(records[0].flags == eventspace::event_cached);
  CHECK(records[0].bytes == 2);
  CHECK(+records[0].up_nanos == 0);
  CHECK(records[1].slot == 2);
  CHECK(records[1].flags == eventspace::event_undecided);
  for (const auto& record : records) {
    CHECK(record.kind == static_cast<std::uint64_t>(eventspace::EventKind::cache_read));
    CHECK(record.sequence == 1);
  }
}

TEST_CASE("condition_check: a value that it waited for is recorded with the wait") {
  Root t;
  t.here->host().recorder().reserve(16);
  t.run([&] {
    t.cache("a", tuple(0, 1));
    t.at(5ms, [&] { t.cache("c", tuple(0, 8)); });
    t.move(0, 3);
  });
  const auto records = test_support::snapshot(t.here->host().recorder());
  REQUIRE(records.size() == 2);
  CHECK(records[0].flags == eventspace::event_cached);
  CHECK(records[1].flags == 0);
  CHECK(+records[1].down_nanos == 0);
  CHECK(+records[1].up_nanos == Nanos(5ms).count());
}
