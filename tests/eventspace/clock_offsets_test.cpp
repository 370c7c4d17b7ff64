// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/clock_offsets_test.cpp — offsets between the clocks of hosts, computed from the
// hosts' readings of each other's clocks.
#include "eventspace/trace/clock_offsets.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>

#include "runtime/random.hpp"

namespace {

using eventspace::ClockOffsets;
using eventspace::EventRecord;

/// A clock that shows offset + t * (1 + drift) at true time t.
struct Clock {
  std::int64_t offset;
  double drift;
  std::int64_t at(std::int64_t t) const {
    return t + offset + std::llround(drift * static_cast<double>(t));
  }
};

eventspace::Structure hosts(std::uint32_t count) {
  eventspace::Structure structure;
  for (std::uint32_t i = 0; i < count; ++i)
    structure.hosts.push_back({"host-" + std::to_string(i), 0, 0, 0});
  return structure;
}

EventRecord look(const Clock& own, std::uint32_t peer, const Clock& other, std::int64_t t,
                 std::int64_t there, std::int64_t back) {
  EventRecord record;
  record.place = peer;
  record.kind = static_cast<std::uint8_t>(eventspace::EventKind::clock);
  record.down_nanos = own.at(t);
  record.sequence = static_cast<std::uint64_t>(other.at(t + there));
  record.up_nanos = own.at(t + there + back);
  return record;
}

constexpr std::int64_t second = 1'000'000'000;

}  // namespace

TEST_CASE("clock offsets: a reading with equal times there and back gives the exact difference") {
  const Clock near{1000, 0}, far{50'000, 0};
  const auto structure = hosts(2);
  ClockOffsets offsets(structure);
  const EventRecord one = look(near, 1, far, second, 300, 300);
  offsets.add(0, {&one, 1});
  const auto lines = offsets.lines(0);
  REQUIRE((lines[0] && lines[1]));
  CHECK(lines[0]->apply(77) == 77);
  CHECK(lines[1]->apply(far.at(second)) == near.at(second));
  CHECK(lines[1]->error_nanos == 300);
}

TEST_CASE("clock offsets: times that no clock can show are ignored") {
  const Clock near{1000, 0}, far{50'000, 0};
  const auto structure = hosts(2);
  EventRecord records[3];
  records[0] = look(near, 1, far, second, 300, 300);
  records[1].down_nanos = INT64_MIN;
  records[1].up_nanos = INT64_MAX;
  records[2] = records[1];
  records[2].kind = records[0].kind;
  records[2].place = 1;
  ClockOffsets offsets(structure);
  offsets.add(0, records);
  const auto lines = offsets.lines(0);
  REQUIRE(lines[1]);
  CHECK(lines[1]->apply(far.at(second)) == near.at(second));
  CHECK(lines[1]->error_nanos == 300);
}

TEST_CASE("clock offsets: the quickest reading counts and drift is a line from begin to end") {
  const Clock near{0, 0}, far{123'456'789, 40e-6};
  const auto structure = hosts(2);
  ClockOffsets offsets(structure);
  for (int burst = 0; burst < 60; ++burst) {
    const EventRecord slow = look(near, 1, far, burst * second, 5000, 90'000);
    const EventRecord quick = look(near, 1, far, burst * second + 500'000'000, 2000, 2000);
    offsets.add(0, {&slow, 1});
    offsets.add(0, {&quick, 1});
  }
  const auto lines = offsets.lines(0);
  for (const std::int64_t t : {0 * second, 10 * second, 30 * second, 59 * second})
    CHECK(std::abs(lines[1]->apply(far.at(t)) - t) <= 10);
  CHECK(lines[1]->error_nanos >= 2000);
  CHECK(lines[1]->error_nanos <= 2100);
}

TEST_CASE("clock offsets: a host is compared through other hosts and one without readings is not") {
  const Clock clocks[] = {{0, 0}, {1000, 0}, {-5000, 0}, {9, 0}};
  const auto structure = hosts(4);
  ClockOffsets offsets(structure);
  const EventRecord up = look(clocks[1], 0, clocks[0], 100, 10, 10);
  const EventRecord over = look(clocks[2], 1, clocks[1], 100, 20, 20);
  offsets.add(1, {&up, 1});
  offsets.add(2, {&over, 1});
  const auto lines = offsets.lines(0);
  CHECK(lines[2]->apply(clocks[2].at(100)) == 100);
  CHECK(lines[2]->error_nanos == 30);
  CHECK(!lines[3]);
  const auto others = offsets.lines(1);
  CHECK(others[1]->apply(77) == 77);
  CHECK(others[0]->apply(clocks[0].at(100)) == clocks[1].at(100));
  CHECK(others[2]->apply(clocks[2].at(100)) == clocks[1].at(100));
  CHECK(!offsets.lines(3)[0]);
}

TEST_CASE("clock offsets: the difference is within its bound however a reading splits its time") {
  const char* given = std::getenv("PATHS_SEEDS");
  const std::uint64_t seeds = given != nullptr ? std::strtoull(given, nullptr, 10) : 200;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    INFO("seed " << seed);
    runtime::Random random(seed);
    std::vector<Clock> clocks;
    for (int i = 0; i < 6; ++i)
      clocks.push_back(
          {random.between(-second, second), static_cast<double>(random.between(-50, 50)) * 1e-6});
    const auto structure = hosts(6);
    ClockOffsets offsets(structure);
    for (std::uint32_t host = 0; host < 6; ++host) {
      EventRecord whole;
      whole.down_nanos = clocks[host].at(10 * second);
      whole.up_nanos = clocks[host].at(40 * second);
      offsets.add(host, {&whole, 1});
    }
    for (int burst = 0; burst < 30; ++burst)
      for (std::uint32_t host = 1; host < 6; ++host) {
        const auto peer = static_cast<std::uint32_t>(random.below(host));
        const EventRecord one = look(clocks[host], peer, clocks[peer], 10 * second + burst * second,
                                     random.between(1000, 100'000), random.between(1000, 100'000));
        offsets.add(host, {&one, 1});
      }
    const auto lines = offsets.lines(0);
    for (std::uint32_t host = 0; host < 6; ++host) {
      REQUIRE(lines[host]);
      for (const std::int64_t t : {12 * second, 25 * second, 38 * second}) {
        const std::int64_t off = lines[host]->apply(clocks[host].at(t)) - clocks[0].at(t);
        CHECK(std::abs(off) <= lines[host]->error_nanos + 20);
      }
    }
  }
}
