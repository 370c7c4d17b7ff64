// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/prefetch_test.cpp — prefetches, which copy the newest tuple of a far element into
// a near element.
#include "wrappers/prefetch.hpp"

#include <catch2/catch.hpp>

#include "eventspace/record.hpp"
#include "pastset/errors.hpp"
#include "tests/support/one_host.hpp"
#include "tests/support/snapshot.hpp"

namespace {

using base::Nanos;
using paths::OperationKind;
using namespace std::chrono_literals;
using namespace test_support;

/// An element `far` and an element `near`, with a link of 10 ms in each direction between them.
struct Fetched {
  Fetched() {
    const auto number = *pastset::Template::parse("u64");
    builder.element("far", number);
    builder.element("near", number);
    const auto prefetch = builder.wrapper("prefetch", "fetch", {{"into", "near"}});
    const auto link = builder.does("link", [this](paths::Operation operation, paths::Next next) {
      ++requests;
      here->sleep(10ms);
      if (link_fails) throw std::runtime_error("link down");
      try {
        const paths::Result result = next(std::move(operation));
        here->sleep(10ms);
        return result;
      } catch (const paths::TravelError&) {
        here->sleep(10ms);
        throw;
      }
    });
    const auto observe = builder.wrapper("observe", "look", {{"element", "far"}});
    builder.path("graph", 0, {prefetch, link, observe});
    here.emplace(builder);
  }
  void put(std::uint64_t value) { far().move(base::Payload::of(value)); }
  pastset::Element& far() { return *here->host().element("far"); }
  pastset::Element& near() { return *here->host().element("near"); }

  PlanBuilder builder;
  std::optional<OneHost> here;
  int requests = 0;
  bool link_fails = false;
};

}  // namespace

TEST_CASE("prefetch: a request is under way before the tuple exists") {
  Fetched t;
  t.here->run([&] {
    t.here->sleep(30ms);
    t.put(5);
    CHECK(t.near().newest(0).payload.read<std::uint64_t>() == 5);
    // The time contains only one direction of the link, because the prefetch had sent its request
    // long before.
    CHECK(t.here->now() == 40ms);
  });
}

TEST_CASE("prefetch: only newer tuples arrive and of those only the newest") {
  Fetched t;
  t.here->run([&] {
    t.here->sleep(15ms);
    t.put(0);
    t.here->sleep(1ms);  // after 1 ms the first tuple is under way
    for (std::uint64_t value = 1; value < 5; ++value) t.put(value);
    CHECK(t.near().observe(std::uint64_t{0}).payload.read<std::uint64_t>() == 0);
    CHECK(t.here->now() == 25ms);
    CHECK(t.near().observe(std::uint64_t{1}).payload.read<std::uint64_t>() == 4);
    CHECK(t.here->now() == 45ms);
    t.here->sleep(100ms);
    CHECK(t.near().last() == 2);
    CHECK(t.requests == 3);
  });
}

TEST_CASE("prefetch: an error mark arrives during a pending read and after the newest tuple") {
  Fetched t;
  t.here->run([&] {
    t.here->sleep(15ms);
    t.put(1);
    t.far().mark_error("round 2 failed");
    CHECK(t.near().newest(0).payload.read<std::uint64_t>() == 1);
    CHECK_FALSE(t.near().error_mark());
    const std::string error = thrown<pastset::Marked>([&] { t.near().newest(1); });
    CHECK_THAT(error, Catch::Contains("round 2 failed"));
    CHECK(t.near().try_newest()->payload.read<std::uint64_t>() == 1);
  });
}

TEST_CASE("prefetch: a failed link marks the element and ends all requests") {
  Fetched t;
  t.link_fails = true;
  t.here->run([&] {
    const std::string error = thrown<pastset::Marked>([&] { t.near().newest(0); });
    CHECK_THAT(error, Catch::Contains("link down") && Catch::Contains("link"));
    t.here->sleep(1s);
    CHECK(t.requests == 1);
  });
}

TEST_CASE("prefetch: a read that ended at its deadline is repeated") {
  Fetched t;
  t.builder.set_deadline(100ms);
  t.here->run([&] {
    t.here->sleep(1s);
    CHECK_FALSE(t.near().error_mark());
    t.put(9);
    CHECK(t.near().newest(0).payload.read<std::uint64_t>() == 9);
  });
}

TEST_CASE("prefetch: a read through the wrapper reads the far element") {
  Fetched t;
  t.here->run([&] {
    t.put(3);
    paths::Operation read = t.here->operation(0, 0, 0, OperationKind::newest);
    CHECK(t.here->operate(read).payload.read<std::uint64_t>() == 3);
    CHECK(t.here->now() == 20ms);
  });
}

TEST_CASE("prefetch: stop ends a pending read") {
  PlanBuilder builder;
  const auto number = *pastset::Template::parse("u64");
  builder.element("far", number);
  builder.element("near", number);
  wrappers::Prefetch* fetch = nullptr;
  const auto prefetch = builder.made("fetch", false, [&](paths::Deployment& deployment) {
    auto made = std::make_unique<wrappers::Prefetch>(deployment, 0, deployment.element("near"));
    fetch = made.get();
    return made;
  });
  const auto observe = builder.wrapper("observe", "look", {{"element", "far"}});
  builder.path("graph", 0, {prefetch, observe});
  OneHost here(builder);
  here.run([&] {
    here.sleep(1ms);
    fetch->stop();
    here.host().element("far")->move(base::Payload::of(std::uint64_t{1}));
    here.sleep(1ms);
    CHECK(here.host().element("near")->last() == 0);
    CHECK_FALSE(here.host().element("near")->error_mark());
  });
}

TEST_CASE("prefetch: it records each read from its request to the arrival of the tuple") {
  Fetched t;
  t.here->host().recorder().reserve(16);
  t.here->run([&] {
    t.here->sleep(30ms);
    t.put(5);
    t.near().newest(0);
    t.here->sleep(50ms);
    t.put(6);
    t.near().newest(1);
  });
  const auto records = test_support::snapshot(t.here->host().recorder());
  REQUIRE(records.size() == 2);
  for (std::uint64_t i = 0; i < 2; ++i) {
    CHECK(records[i].kind == static_cast<std::uint64_t>(eventspace::EventKind::prefetch));
    CHECK(records[i].sequence == i);
    CHECK(records[i].bytes == 8);
  }
  CHECK(+records[0].down_nanos == Nanos(0ms).count());
  CHECK(+records[0].up_nanos == Nanos(40ms).count());
  CHECK(+records[1].down_nanos == Nanos(40ms).count());
  CHECK(+records[1].up_nanos == Nanos(100ms).count());
}
