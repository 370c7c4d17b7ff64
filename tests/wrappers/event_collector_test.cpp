// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/event_collector_test.cpp — the records that one event collector writes.
#include "wrappers/event_collector.hpp"

#include <catch2/catch.hpp>

#include "tests/support/snapshot.hpp"
#include "tests/wrappers/chain.hpp"

namespace {

using eventspace::EventRecord;
using paths::OperationKind;
using namespace std::chrono_literals;
using namespace wrapper_tests;

std::int64_t nanos(base::Nanos time) { return time.count(); }
OperationKind kind_of(const EventRecord& record) { return static_cast<OperationKind>(record.kind); }

struct Collected {
  explicit Collected(Answer::Function function) : element(std::move(function)) {
    chain.deployment().recorder().reserve(16);
  }
  Chain chain;
  Answer element;
  wrappers::EventCollector collector;
  const paths::Stage& end = chain.stage(element);
  const paths::Stage& top = chain.stage(collector, &end);

  std::vector<EventRecord> records() {
    return test_support::snapshot(chain.deployment().recorder());
  }
};

}  // namespace

TEST_CASE("event collector: it records the times of the way down and the way up") {
  Chain* clock = nullptr;
  Collected t([&](const paths::Operation& operation) {
    clock->wait_until(30ms);
    paths::Result result;
    result.payload = operation.payload;
    return result;
  });
  clock = &t.chain;
  t.chain.run([&] {
    t.chain.wait_until(10ms);
    paths::Operation move = move_of(zeros(8), 17);
    move.slot = 5;
    CHECK(t.chain.operate(t.top, move).payload.size() == 8);
  });
  const auto records = t.records();
  REQUIRE(records.size() == 1);
  CHECK(records[0].place == t.top.id);
  CHECK(records[0].slot == 5u);
  CHECK(records[0].sequence == 17u);
  CHECK(+records[0].down_nanos == nanos(10ms));
  CHECK(+records[0].up_nanos == nanos(30ms));
  CHECK(records[0].bytes == 8);
  CHECK(kind_of(records[0]) == OperationKind::move);
}

TEST_CASE("event collector: a read counts the bytes of its result") {
  Collected t([](const paths::Operation&) {
    paths::Result result;
    result.payload = zeros(1000);
    return result;
  });
  t.chain.run([&] { t.chain.operate(t.top, operation(OperationKind::observe)); });
  const auto records = t.records();
  REQUIRE(records.size() == 1);
  CHECK(records[0].bytes == 1000);
  CHECK(kind_of(records[0]) == OperationKind::observe);
}

TEST_CASE("event collector: it records a failure and passes it on") {
  Collected t([](const paths::Operation&) -> paths::Result { throw std::runtime_error("gone"); });
  t.chain.run(
      [&] { CHECK_THROWS_AS(t.chain.operate(t.top, move_of(zeros(8))), paths::TravelError); });
  const auto records = t.records();
  REQUIRE(records.size() == 1);
  CHECK((records[0].flags & eventspace::event_failed) != 0);
}

TEST_CASE("event collector: it marks pushes and caps sizes and omits releases") {
  Collected t([](const paths::Operation&) { return paths::Result{}; });
  t.chain.run([&] {
    t.chain.operate(t.top, operation(OperationKind::release));
    paths::Operation push = move_of(zeros(std::size_t{1} << 25));
    push.one_way = true;
    t.chain.operate(t.top, push);
  });
  const auto records = t.records();
  REQUIRE(records.size() == 1);
  CHECK(records[0].bytes == eventspace::event_bytes_max);
  CHECK(records[0].flags == eventspace::event_one_way);
  CHECK(kind_of(records[0]) == OperationKind::move);
  CHECK(t.element.arrived.size() == 2);
}

TEST_CASE("event collector: it marks the last arriver in the join below and proved results") {
  Collected t([](const paths::Operation&) {
    paths::Result result;
    result.last_arriver = true;
    result.proved = true;
    return result;
  });
  t.chain.run([&] { t.chain.operate(t.top, move_of(zeros(8))); });
  const auto records = t.records();
  REQUIRE(records.size() == 1);
  CHECK(records[0].flags == (eventspace::event_last_arriver | eventspace::event_proved));
}
