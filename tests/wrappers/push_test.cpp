// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/push_test.cpp — tuples that are pushed to a far element, with or without a
// request.
#include "wrappers/push.hpp"

#include <catch2/catch.hpp>

#include "eventspace/record.hpp"
#include "pastset/errors.hpp"
#include "paths/joins/cluster_tuples.hpp"
#include "tests/support/one_host.hpp"
#include "tests/support/snapshot.hpp"

namespace {

using base::Nanos;
using namespace std::chrono_literals;
using namespace test_support;

/// An element `near` and an element `far`, connected by a link of 10 ms, and a record of the
/// operations over the link.
struct Pushed {
  enum class What : std::uint8_t { newest, every, asked };
  explicit Pushed(What what) {
    const auto number = *pastset::Template::parse("u64");
    builder.plan().elements.push_back({"near", 0, number, 0, 0, {}, {}});
    builder.plan().elements.push_back({"far", 0, number, 0, 0, {}, {}});
    builder.element("asks", paths::ask_template());
    const auto push = builder.made("push", false, [this, what](paths::Deployment& deployment) {
      auto made = std::make_unique<wrappers::Push>(
          deployment, 0u,
          wrappers::PushSettings{deployment.element("near"),
                                 what == What::asked ? deployment.element("asks") : nullptr,
                                 what == What::every});
      wrapper = made.get();
      return made;
    });
    const auto seen = builder.does("seen", [this](paths::Operation operation, paths::Next next) {
      are_kept.push_back(operation.kept);
      return next(std::move(operation));
    });
    const auto link = builder.wrapper("emulate_link", "link", {{"latency", "10ms"}});
    const auto store = builder.wrapper("store", "store", {{"element", "far"}, {"marks", "true"}});
    builder.path("graph", 0, {push, seen, link, store});
    here.emplace(builder);
  }
  void put(std::uint64_t value) { near().move(base::Payload::of(value)); }
  void ask(std::uint64_t from, std::uint64_t count) {
    here->host().element("asks")->move(paths::ask_tuple({from, count}));
  }
  /// Waits until no tuple is under way. Returns the new tuples of the far element.
  std::vector<std::uint64_t> arrived() {
    here->sleep(100ms);
    std::vector<std::uint64_t> all;
    while (const auto tuple = far().try_observe())
      all.push_back(tuple->payload.read<std::uint64_t>());
    return all;
  }
  pastset::Element& near() { return *here->host().element("near"); }
  pastset::Element& far() { return *here->host().element("far"); }

  std::vector<bool> are_kept;
  PlanBuilder builder;
  wrappers::Push* wrapper = nullptr;
  std::optional<OneHost> here;
};

using What = Pushed::What;
using Numbers = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("push: a tuple arrives one way after its move") {
  Pushed t(What::newest);
  t.here->run([&] {
    t.here->sleep(3ms);
    t.put(5);
    CHECK(t.far().newest(0).payload.read<std::uint64_t>() == 5);
    CHECK(t.here->now() == 13ms);
    t.put(6);
    t.here->sleep(1ms);
    t.put(7);  // moved while tuple 6 is under way
    CHECK(t.far().newest(2).payload.read<std::uint64_t>() == 7);
    CHECK(t.here->now() == 24ms);
    CHECK(t.arrived() == Numbers{5, 6, 7});
  });
}

TEST_CASE("push: of tuples moved at once it sends only the newest or each one") {
  for (const What what : {What::newest, What::every}) {
    Pushed t(what);
    t.here->run([&] {
      for (const std::uint64_t value : {1, 2, 3}) t.put(value);
      CHECK(t.arrived() == (what == What::every ? Numbers{1, 2, 3} : Numbers{3}));
      t.put(4);
      CHECK(t.arrived() == Numbers{4});
    });
  }
}

TEST_CASE("push: with requests it sends nothing before one and then as many tuples as requested") {
  Pushed t(What::asked);
  t.here->run([&] {
    for (const std::uint64_t value : {10, 11, 12}) t.put(value);
    CHECK(t.arrived().empty());
    t.ask(1, 1);
    // Only the newest tuple is pushed, because it satisfies the request.
    CHECK(t.arrived() == Numbers{12});
    t.put(13);
    CHECK(t.arrived().empty());
    t.ask(3, 2);
    CHECK(t.arrived() == Numbers{13});
    t.put(14);
    t.here->sleep(1ms);
    t.put(15);
    CHECK(t.arrived() == Numbers{14});
  });
}

TEST_CASE("push: a tuple that is requested before its move is sent at its move") {
  Pushed t(What::asked);
  t.here->run([&] {
    t.put(10);
    t.ask(2, 1);
    t.here->sleep(5ms);
    t.put(11);
    t.here->sleep(5ms);
    t.put(12);
    CHECK(t.far().newest(0).payload.read<std::uint64_t>() == 12);
    CHECK(t.here->now() == 20ms);
    CHECK(t.arrived() == Numbers{12});
  });
}

TEST_CASE("push: an error mark arrives after earlier tuples") {
  for (const What what : {What::newest, What::every}) {
    Pushed t(what);
    t.here->run([&] {
      t.put(1);
      t.near().mark_error("round 2 failed");
      CHECK(t.far().newest(0).payload.read<std::uint64_t>() == 1);
      const std::string error = thrown<pastset::Marked>([&] { t.far().newest(1); });
      CHECK_THAT(error, Catch::Contains("round 2 failed"));
      CHECK(t.here->now() == 10ms);
    });
  }
}

TEST_CASE("push: a request to a marked element returns its tuple first and then the mark") {
  Pushed t(What::asked);
  t.here->run([&] {
    t.put(1);
    t.near().mark_error("round 2 failed");
    CHECK(t.arrived().empty());
    CHECK_FALSE(t.far().error_mark());
    t.ask(0, 1);
    CHECK(t.arrived() == Numbers{1});
    CHECK_FALSE(t.far().error_mark());
    t.ask(1, 1);
    CHECK(t.arrived().empty());
    CHECK_THAT(t.far().error_mark().value_or("").text, Catch::Contains("round 2 failed"));
  });
}

TEST_CASE("push: an open subscription gets the mark without another request") {
  Pushed t(What::asked);
  t.here->run([&] {
    t.ask(0, 8);
    t.put(1);
    CHECK(t.arrived() == Numbers{1});
    t.near().mark_error("round 2 failed");
    CHECK(t.arrived().empty());
    CHECK(t.far().error_mark());
  });
}

TEST_CASE("push: if no request can arrive any more the far element is marked") {
  Pushed t(What::asked);
  t.here->run([&] {
    t.here->host().element("asks")->mark_error("the link failed");
    CHECK(t.arrived().empty());
    CHECK_THAT(t.far().error_mark().value_or("").text, Catch::Contains("the link failed"));
  });
}

TEST_CASE("push: at its end it sends its newest tuple unless that was sent") {
  const What what = GENERATE(What::newest, What::every, What::asked);
  const bool was_sent = GENERATE(true, false);
  Pushed t(what);
  t.here->run([&] {
    t.put(1);
    t.put(2);
    t.ask(0, 1);
    if (was_sent) CHECK(t.arrived() == (what == What::every ? Numbers{1, 2} : Numbers{2}));
    t.wrapper->stop();
    CHECK(t.arrived() == (was_sent ? Numbers{} : what == What::every ? Numbers{1, 2} : Numbers{2}));
    t.put(3);
    CHECK(t.arrived().empty());
  });
}

TEST_CASE("push: at its end it sends its mark once") {
  Pushed t(What::asked);
  t.here->run([&] {
    t.put(1);
    t.near().mark_error("round 2 failed");
    t.here->sleep(1ms);
    t.wrapper->stop();
    CHECK(t.arrived() == Numbers{1});
    CHECK(t.far().error_mark());
  });
}

TEST_CASE("push: only tuples without a request or a promise may be replaced by newer ones") {
  for (const What what : {What::newest, What::every, What::asked}) {
    Pushed t(what);
    t.here->run([&] {
      t.ask(0, 1);
      t.put(1);
      t.arrived();
    });
    CHECK(t.are_kept == std::vector<bool>{what != What::newest});
  }
}

TEST_CASE("push: it records each tuple that it sends") {
  Pushed t(What::newest);
  t.here->host().recorder().reserve(16);
  t.here->run([&] {
    t.here->sleep(30ms);
    t.put(5);
    t.arrived();
  });
  const auto records = test_support::snapshot(t.here->host().recorder());
  REQUIRE(records.size() == 2);  // records[0] is the record of the link
  const auto& sent = records[1];
  CHECK(sent.kind == static_cast<std::uint64_t>(eventspace::EventKind::prefetch));
  CHECK(sent.flags == eventspace::event_one_way);
  CHECK(sent.bytes == 8);
  CHECK(+sent.down_nanos == Nanos(30ms).count());
  CHECK(+sent.up_nanos == Nanos(30ms).count());
}
