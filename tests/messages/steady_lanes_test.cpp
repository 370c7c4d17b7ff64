// SPDX-License-Identifier: Apache-2.0
// tests/messages/steady_lanes_test.cpp — behaviour of lanes on the steady clock only: frames handed
// over before their arrival time, and small messages that use credit instead of grants.
#include <atomic>
#include <catch2/catch.hpp>

#include "tests/support/lane_hosts.hpp"

namespace {

using namespace std::chrono_literals;
using paths::LaneFrame;
using paths::LaneKind;

struct Steady {
  Steady(std::vector<std::uint32_t> sizes, const std::string& network, const std::string& wan)
      : hosts(runtime, test_support::lane_plan(sizes, network, wan)) {}
  runtime::Runtime runtime{{.clock = runtime::ClockKind::steady}};
  test_support::LaneHosts hosts;
};

paths::NamedMessage little(std::uint64_t name) {
  return {.channel = 0, .name = name, .order = name, .is_little = true};
}

}  // namespace

TEST_CASE(
    "steady lanes: a frame is handed over when its link takes it and is received at its arrival "
    "time") {
  Steady t({1, 1}, "", "{latency: 200ms}");
  std::atomic<bool> was_early{false};
  t.hosts.on_frame = [&](std::uint32_t, std::uint32_t, LaneFrame& frame) {
    if (frame.kind == LaneKind::data) was_early = frame.late < base::Nanos(0);
  };
  t.runtime.run([&] {
    const auto here = t.hosts[0].group("all", t.hosts.all()),
               there = t.hosts[1].group("all", t.hosts.all());
    const base::Nanos begin = t.runtime.now();
    here->send(1, 0, base::Payload::of(7));
    CHECK(there->receive(0, 0).wait().payload.read<int>() == 7);
    CHECK(t.runtime.now() - begin >= 200ms);
  });
  CHECK(was_early);
}

TEST_CASE(
    "steady lanes: messages that a host sent before it ended arrive before the host is gone") {
  Steady t({1, 1}, "", "{latency: 100ms}");
  t.runtime.run([&] {
    const auto here = t.hosts[0].group("all", t.hosts.all()),
               there = t.hosts[1].group("all", t.hosts.all());
    t.runtime.sleep_for(400ms);  // the receiver's credit has arrived before 400 ms
    const auto sending = here->send(1, 0, base::Payload::of(7));
    t.hosts[1].host_ended(0);
    CHECK(there->receive(0, 0).wait().payload.read<int>() == 7);
    CHECK_THROWS_WITH(there->receive(0, 0).wait(), Catch::Contains("it has ended"));
  });
}

TEST_CASE("steady lanes: messages that two hosts sent before they ended arrive one after another") {
  const auto plan = test_support::lane_plan({3}, "{latency: 1ms, bandwidth: 1Mbit}", "");
  plan->ways->clusters[0].receives = true;
  runtime::Runtime runtime{{.clock = runtime::ClockKind::steady}};
  test_support::LaneHosts hosts(runtime, plan);
  runtime.run([&] {
    std::vector<std::unique_ptr<paths::MessageGroup>> groups;
    for (const std::uint32_t host : {0, 1, 2})
      groups.push_back(hosts[host].group("all", hosts.all()));
    runtime.sleep_for(400ms);  // the receiver's credit has arrived before 400 ms
    const base::Payload message = base::Payload::of(std::vector<std::byte>(10'000));
    auto first = groups[0]->send(2, 0, message), second = groups[1]->send(2, 0, message);
    first.wait();
    second.wait();
    for (const std::uint32_t host : {0, 1}) hosts[2].host_ended(host);
    for (const std::uint32_t host : {0, 1})
      CHECK(groups[2]->receive(host, 0).wait().payload == message);
    CHECK_THROWS_WITH(groups[2]->receive(1, 0).wait(), Catch::Contains("it has ended"));
  });
}

TEST_CASE("steady lanes: the end of a host does not overtake what it sent to others") {
  Steady t({1, 1, 1}, "", "{latency: 1ms, bandwidth: 1Mbit}");
  t.runtime.run([&] {
    std::vector<std::unique_ptr<paths::MessageGroup>> groups;
    for (const std::uint32_t host : {0, 1, 2})
      groups.push_back(t.hosts[host].group("all", t.hosts.all()));
    t.runtime.sleep_for(400ms);
    const base::Payload message = base::Payload::of(std::vector<std::byte>(10'000));
    auto sending = groups[2]->send(0, 0, message);
    t.hosts[1].host_ended(2);  // host 1 has nothing to receive
    CHECK(groups[0]->receive(2, 0).wait().payload == message);
    sending.wait();
  });
}

// A host that has left sends a second farewell as an answer. This answer can arrive before the
// first farewell, and before the message that the host sent. If the answer did not count that
// message, the receive call would fail.
TEST_CASE("steady lanes: the answer of a host that has left counts the messages that it sent") {
  Steady t({2}, "", "");
  std::atomic<int> farewells{0};
  std::atomic<std::uint64_t> messages{0};
  t.hosts.on_frame = [&](std::uint32_t, std::uint32_t, LaneFrame& frame) {
    if (frame.kind != LaneKind::left) return;
    messages = frame.bytes;
    if (++farewells == 1) frame.kind = LaneKind::credit, frame.bytes = 0;  // hides farewell 1
  };
  t.runtime.run([&] {
    auto here = t.hosts[0].group("all", t.hosts.all());
    const auto there = t.hosts[1].group("all", t.hosts.all());
    here->send(1, 0, base::Payload::of(7)).wait();
    here->leave();
    CHECK(there->receive(0, 0).wait().payload.read<int>() == 7);
    CHECK_THROWS_WITH(there->receive(0, 0).wait(), Catch::Contains("it has left the group"));
    CHECK(farewells == 2);
    CHECK(messages == 1);
  });
}

TEST_CASE("steady lanes: little messages use credit and are not requested one by one") {
  Steady t({2}, "", "");
  std::atomic<int> grants{0};
  t.hosts.on_frame = [&](std::uint32_t, std::uint32_t, LaneFrame& frame) {
    grants += frame.kind == LaneKind::grant ? 1 : 0;
  };
  t.runtime.run([&] {
    const auto here = t.hosts[0].group("all", t.hosts.all()),
               there = t.hosts[1].group("all", t.hosts.all());
    for (std::uint64_t i = 0; i < 5000; ++i) {  // more messages than one credit window covers
      auto receiving = there->receive(0, little(i));
      here->send(1, little(i), base::Payload::of(i));
      REQUIRE(receiving.wait().payload.read<std::uint64_t>() == i);
    }
  });
  INFO(grants << " grants");
  CHECK(grants < 500);  // only messages that do not arrive for a long time get grants
}

TEST_CASE("steady lanes: a little message that does not arrive is requested") {
  Steady t({2}, "", "");
  std::atomic<bool> is_asked{false};
  t.hosts.on_frame = [&](std::uint32_t, std::uint32_t, LaneFrame& frame) {
    if (frame.kind == LaneKind::grant) is_asked = true;
  };
  t.runtime.run([&] {
    const auto here = t.hosts[0].group("all", t.hosts.all()),
               there = t.hosts[1].group("all", t.hosts.all());
    auto receiving = there->receive(0, little(0));
    CHECK_FALSE(is_asked);
    while (!is_asked) t.runtime.sleep_for(1ms);
    here->send(1, little(0), base::Payload::of(7));
    CHECK(receiving.wait().payload.read<int>() == 7);
  });
}

TEST_CASE("steady lanes: a little message behind large unrequested ones arrives") {
  Steady t({2}, "", "");
  t.runtime.run([&] {
    const auto here = t.hosts[0].group("all", t.hosts.all()),
               there = t.hosts[1].group("all", t.hosts.all());
    for (std::uint64_t i = 0; i < 20; ++i) {
      auto receiving = there->receive(0, little(i));
      here->send(1, {.channel = 1, .name = i, .order = 2 * i},
                 base::Payload::filled(1 << 20, [](std::span<std::byte>) {}));
      here->send(1, {.channel = 0, .name = i, .order = 2 * i + 1}, base::Payload::of(i));
      CHECK(receiving.wait().payload.read<std::uint64_t>() == i);
    }
  });
}

TEST_CASE("steady lanes: a time that no wait can reach does not keep a host from ending") {
  for (const auto spoil : {+[](LaneFrame& frame) { frame.late = -base::Nanos(24h); },
                           +[](LaneFrame& frame) { frame.lag = base::time_max; },
                           +[](LaneFrame& frame) { frame.late = base::time_max; }}) {
    const auto plan = test_support::lane_plan({1, 1}, "", "{latency: 1ms}");
    plan->lanes.is_written = true;
    plan->deadline = 100ms;
    runtime::Runtime runtime{{.clock = runtime::ClockKind::steady}};
    test_support::LaneHosts hosts(runtime, plan);
    hosts.on_frame = [&](std::uint32_t, std::uint32_t, LaneFrame& frame) { spoil(frame); };
    runtime.run([&] {
      const auto here = hosts[0].group("all", hosts.all()),
                 there = hosts[1].group("all", hosts.all());
      here->send(1, 0, base::Payload::of(7));
      there->receive(0, 0);
      runtime::Task other =
          runtime.spawn(runtime::ContextRole::thread, {"other"}, [&] { hosts[1].finish(); });
      hosts[0].finish();
      other.join();
    });
  }
}
