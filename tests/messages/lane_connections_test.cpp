// SPDX-License-Identifier: Apache-2.0
// tests/messages/lane_connections_test.cpp — connections that lanes open and close.
#include "paths/messages/carriers/lane_connections.hpp"

#include <catch2/catch.hpp>

#include "paths/messages/carriers/lane_liveness.hpp"
#include "paths/wire/local/transport.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/lane_hosts.hpp"

namespace {

using namespace std::chrono_literals;

/// Transport that reports room for frames only while `is_room` is true.
class Narrow final : public paths::Transport {
 public:
  Narrow(std::unique_ptr<paths::Transport> below, const bool& is_room)
      : below_(std::move(below)), is_room_(is_room) {}
  void start(paths::Receiver& receiver) override { below_->start(receiver); }
  paths::ConnectionId connect(std::uint32_t host) override { return below_->connect(host); }
  void send(paths::ConnectionId connection, paths::Frame&& frame) override {
    if (on_lane && frame.lane) on_lane(*frame.lane);
    if (holds_goodbyes && frame.lane && frame.lane->kind == paths::LaneKind::goodbye)
      held_.emplace_back(connection, std::move(frame));
    else
      below_->send(connection, std::move(frame));
  }
  void release_goodbyes() {
    holds_goodbyes = false;
    for (auto& [connection, frame] : std::exchange(held_, {}))
      below_->send(connection, std::move(frame));
  }
  bool has_room(paths::ConnectionId connection) override {
    asked_for = connection;
    return is_room_;
  }
  void drop(paths::ConnectionId connection) override { below_->drop(connection); }
  void stop() override { below_->stop(); }
  paths::ConnectionId asked_for = 0;
  /// Called with each lane frame that is sent; may change the frame.
  std::function<void(paths::LaneFrame&)> on_lane;
  bool holds_goodbyes = false;

 private:
  const std::unique_ptr<paths::Transport> below_;
  const bool& is_room_;
  std::vector<std::pair<paths::ConnectionId, paths::Frame>> held_;
};

struct Network {
  explicit Network(std::uint32_t hosts, std::size_t connections_most = 256)
      : Network(test_support::lane_plan({hosts}, "", ""), runtime::ClockKind::virtual_time,
                connections_most) {}
  Network(std::shared_ptr<paths::Plan> of, runtime::ClockKind clock,
          std::size_t connections_most = 256)
      : runtime({.clock = clock}), plan(std::move(of)), local(plan->hosts.size()) {
    const auto hosts = static_cast<std::uint32_t>(plan->hosts.size());
    auto all = std::make_shared<paths::Peers>();
    for (const auto& host : plan->hosts) all->hosts.push_back({host.name, "ipc://x", 0, {}});
    all->digest.low = 7;
    all->deadline = plan->deadline;
    for (std::uint32_t host = 0; host < hosts; ++host) {
      one.push_back(std::make_unique<One>());
      auto transport = std::make_unique<Narrow>(local.transport(host), is_room);
      one.back()->transport = transport.get();
      one.back()->connections = std::make_unique<paths::LaneConnections>(
          runtime, all, host, std::move(transport), rejections, connections_most);
      one.back()->lanes = std::make_unique<paths::MessageEndpoint>(
          runtime, plan, host, one.back()->links, *one.back()->connections);
      one.back()->connections->start(*one.back()->lanes);
    }
  }
  struct One {
    paths::EmulatedLinks links;
    std::unique_ptr<paths::MessageEndpoint> lanes;
    std::unique_ptr<paths::LaneConnections> connections;
    Narrow* transport = nullptr;
  };
  bool is_room = true;
  paths::RejectionLog rejections{"the host"};
  runtime::Runtime runtime;
  std::shared_ptr<paths::Plan> plan;
  paths::LocalNetwork local;
  std::vector<std::unique_ptr<One>> one;
};

/// Returns how long a message from host 0 to host 1 takes over a link of 1 ms. `change` is called
/// with each lane frame of host 0, and may change it. Throws if the message does not arrive within
/// 30 s.
base::Nanos time_of_message(const std::function<void(paths::LaneFrame&)>& change) {
  const auto plan = test_support::lane_plan({1, 1}, "", "{latency: 1ms}");
  plan->deadline = 30s;
  Network t(plan, runtime::ClockKind::steady);
  t.one[0]->transport->on_lane = change;
  base::Nanos took{0};
  t.runtime.run([&] {
    const auto here = t.one[0]->lanes->group("two", {0, 1}),
               there = t.one[1]->lanes->group("two", {0, 1});
    const base::Nanos begin = t.runtime.now();
    here->send(1, 0, base::Payload::of(5));
    CHECK(there->receive(0, 0).wait().payload.read<int>() == 5);
    took = t.runtime.now() - begin;
    for (auto& one : t.one) one->connections->part({t.runtime.now() + 1s, true});
    for (auto& one : t.one) one->lanes->stop();
  });
  return took;
}

}  // namespace

TEST_CASE("lane connections: only connections that carried a message exist") {
  Network t(4);
  t.runtime.run([&] {
    const auto here = t.one[0]->lanes->group("two", {0, 3}),
               there = t.one[3]->lanes->group("two", {0, 3});
    here->send(3, 0, base::Payload::of(5));
    CHECK(there->receive(0, 0).wait().payload.read<int>() == 5);
    CHECK(t.one[0]->connections->connections() == 1);
    CHECK(t.one[1]->connections->connections() == 0);
    CHECK(t.one[0]->connections->silent().empty());
    t.one[0]->connections->part(runtime::Deadline::never());
  });
}

TEST_CASE("lane connections: above the limit the connection that was idle longest is closed") {
  Network t(6, 2);
  t.runtime.run([&] {
    std::vector<std::unique_ptr<paths::MessageGroup>> groups;
    std::vector<std::uint32_t> all = {0, 1, 2, 3, 4, 5};
    for (auto& one : t.one) groups.push_back(one->lanes->group("all", all));
    for (int round = 0; round < 3; ++round)
      for (std::uint32_t peer = 1; peer < 6; ++peer) {
        groups[0]->send(peer, 0, base::Payload::of(peer));
        groups[peer]->send(0, 0, base::Payload::of(peer));
        CHECK(groups[peer]->receive(0, 0).wait().payload.read<std::uint32_t>() == peer);
        CHECK(groups[0]->receive(peer, 0).wait().payload.read<std::uint32_t>() == peer);
        CHECK(t.one[0]->connections->connections() <= 2);
      }
    for (auto& group : groups) group->leave();
  });
}

TEST_CASE(
    "lane connections: messages wait in order for the goodbye of an idle connection to their "
    "host") {
  Network t(3, 1);
  t.runtime.run([&] {
    std::vector<std::unique_ptr<paths::MessageGroup>> groups;
    for (auto& one : t.one) groups.push_back(one->lanes->group("all", {0, 1, 2}));
    const auto send = [&](std::uint32_t to, int value) {
      groups[0]->send(to, 0, base::Payload::of(value));
    };
    send(1, 0);
    t.one[1]->transport->holds_goodbyes = true;
    send(2, 0);  // closes the connection to host 1
    for (int value = 1; value < 4; ++value) send(1, value);
    CHECK(groups[1]->receive(0, 0).wait().payload.read<int>() == 0);
    auto next = groups[1]->receive(0, 0);
    CHECK_FALSE(next.done());
    t.one[1]->transport->release_goodbyes();
    CHECK(next.wait().payload.read<int>() == 1);
    for (int value = 2; value < 4; ++value)
      CHECK(groups[1]->receive(0, 0).wait().payload.read<int>() == value);
    CHECK(groups[2]->receive(0, 0).wait().payload.read<int>() == 0);
    for (auto& one : t.one) one->connections->part(runtime::Deadline::never());
  });
}

TEST_CASE(
    "lane connections: a host that is lost while its idle connection closes does not delay the "
    "end") {
  Network t(4, 1);
  t.runtime.run([&] {
    std::vector<std::unique_ptr<paths::MessageGroup>> groups;
    for (auto& one : t.one) groups.push_back(one->lanes->group("all", {0, 1, 2, 3}));
    groups[0]->send(1, 0, base::Payload::of(0));
    t.one[1]->transport->holds_goodbyes = true;
    groups[0]->send(2, 0, base::Payload::of(0));  // closes the connection to host 1
    groups[0]->send(1, 0, base::Payload::of(1));  // waits for the goodbye of host 1
    t.one[0]->connections->forget(1);
    groups[0]->send(3, 0, base::Payload::of(0));  // must not close the connection to host 1 again
    const base::Nanos begin = t.runtime.now();
    t.one[0]->connections->part({begin + 1h, true});
    CHECK(t.runtime.now() - begin < 1h);
  });
}

TEST_CASE(
    "lane connections: a connection without room is not idle even if nothing was sent on it for "
    "long") {
  Network t(4, 1);
  t.runtime.run([&] {
    std::vector<std::unique_ptr<paths::MessageGroup>> groups;
    for (std::uint32_t host = 0; host < 4; ++host)
      groups.push_back(t.one[host]->lanes->group("all", {0, 1, 2, 3}, {.window_bytes = 1 << 20}));
    paths::LaneConnections& connections = *t.one[0]->connections;
    const auto send = [&](std::uint32_t to) { groups[0]->send(to, 0, base::Payload::of(to)); };
    send(1);
    REQUIRE(connections.connections() == 1);
    t.is_room = false;
    CHECK_FALSE(connections.has_room(1));
    const paths::ConnectionId full = t.one[0]->transport->asked_for;
    send(2);
    CHECK(connections.connections() == 2);
    send(1);
    send(3);  // closes the connection to host 2: it is idle, and no lack of room is known
    CHECK(connections.connections() == 2);
    CHECK_FALSE(connections.has_room(1));
    CHECK(t.one[0]->transport->asked_for == full);
    connections.room_made(full);
    send(2);
    send(3);
    CHECK(connections.connections() <= 2);
    t.is_room = true;
    CHECK(connections.has_room(1));  // the second query for room opens a connection
    for (std::uint32_t host = 1; host < 4; ++host)
      CHECK(groups[host]->receive(0, 0).wait().payload.read<std::uint32_t>() == host);
    for (auto& one : t.one) one->connections->part(runtime::Deadline::never());
  });
}

TEST_CASE("lane connections: timestamps of a host with another clock are ignored") {
  for (const base::Nanos ahead : {base::Nanos(24h), base::Nanos(3s), -base::Nanos(24h)}) {
    INFO(base::format_time(ahead < 0s ? -ahead : ahead) << (ahead < 0s ? " behind" : " ahead"));
    CHECK(time_of_message([ahead](paths::LaneFrame& frame) {
            if (frame.kind == paths::LaneKind::hello) ++frame.signature_digest;
            if (frame.head != 0s) frame.head += ahead;
          }) < 3s);
  }
}

TEST_CASE(
    "lane connections: an impossible timestamp is ignored even if the host proved the same clock") {
  for (const base::Nanos ahead : {base::Nanos(24h), base::Nanos(3s), -base::Nanos(24h)}) {
    INFO(base::format_time(ahead < 0s ? -ahead : ahead) << (ahead < 0s ? " behind" : " ahead"));
    CHECK(time_of_message([ahead](paths::LaneFrame& frame) {
            if (frame.head != 0s) frame.head += ahead;
          }) < 3s);
  }
}

TEST_CASE("lane connections: the due time in a frame is used if both hosts share a clock") {
  CHECK(time_of_message([](paths::LaneFrame& frame) {
          if (frame.head != 0s) frame.late = -base::Nanos(20s);  // as if the frame were due in 20 s
        }) < 19s);
}

TEST_CASE("lane liveness: a host that may still start is silent only after the deadline") {
  test_support::on_virtual_clock([](runtime::Runtime& runtime) {
    paths::LocalNetwork network(2, true);
    const auto transport = network.transport(0);
    paths::Peers peers;
    peers.liveness = {.beat = 1s, .silent = 5s};
    peers.deadline = 20s;
    paths::LaneLiveness liveness(runtime, peers, *transport);
    std::map<std::uint32_t, base::Nanos> silent_at;
    while (runtime.now() < 30s) {
      for (const auto& [host, why] :
           liveness.look({{0, {.is_met = true}}, {1, {.is_met = false}}}, 10s).silent)
        silent_at.emplace(host, runtime.now());
      runtime.sleep_for(1s);
    }
    CHECK(silent_at == std::map<std::uint32_t, base::Nanos>{{0, 5s}, {1, 20s}});
  });
}
