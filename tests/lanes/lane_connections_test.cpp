// SPDX-License-Identifier: Apache-2.0
// tests/lanes/lane_connections_test.cpp — which connections lanes open and close.
#include "paths/lanes/lane_connections.hpp"

#include <catch2/catch.hpp>

#include "paths/wire/transport_local.hpp"
#include "tests/support/lane_hosts.hpp"

namespace {

using namespace std::chrono_literals;

struct Network {
  explicit Network(std::uint32_t hosts, std::size_t connections_most = 256)
      : plan(test_support::lane_plan({hosts}, "", "")), local(hosts) {
    auto all = std::make_shared<paths::Peers>();
    for (const auto& host : plan->hosts) all->hosts.push_back({host.name, "", 0, {}});
    all->digest.low = 7;
    for (std::uint32_t host = 0; host < hosts; ++host) {
      one.push_back(std::make_unique<One>());
      one.back()->connections = std::make_unique<paths::LaneConnections>(
          runtime, all, host, local.transport(host), connections_most);
      one.back()->lanes = std::make_unique<paths::Lanes>(runtime, plan, host, one.back()->links,
                                                         *one.back()->connections);
      one.back()->connections->start(*one.back()->lanes);
    }
  }
  struct One {
    paths::EmulatedLinks links;
    std::unique_ptr<paths::Lanes> lanes;
    std::unique_ptr<paths::LaneConnections> connections;
  };
  runtime::Runtime runtime{{.clock = runtime::ClockKind::virtual_time}};
  std::shared_ptr<paths::Plan> plan;
  paths::LocalNetwork local;
  std::vector<std::unique_ptr<One>> one;
};

}  // namespace

TEST_CASE("lane connections: there are those that something was sent on") {
  Network t(4);
  t.runtime.run([&] {
    const auto here = t.one[0]->lanes->group("two", {0, 3}),
               there = t.one[3]->lanes->group("two", {0, 3});
    here->send(3, 0, base::Payload::of(5));
    CHECK(there->receive(0, 0).wait().read<int>() == 5);
    CHECK(t.one[0]->connections->connections() == 1);
    CHECK(t.one[1]->connections->connections() == 0);
    CHECK(t.one[0]->connections->silent().empty());
    t.one[0]->connections->part(runtime::Deadline::never());
  });
}

TEST_CASE("lane connections: beyond a bound the one that was idle for longest is closed") {
  Network t(6, 2);
  t.runtime.run([&] {
    std::vector<std::unique_ptr<paths::LaneGroup>> groups;
    std::vector<std::uint32_t> all = {0, 1, 2, 3, 4, 5};
    for (auto& one : t.one) groups.push_back(one->lanes->group("all", all));
    for (int round = 0; round < 3; ++round)
      for (std::uint32_t peer = 1; peer < 6; ++peer) {
        groups[0]->send(peer, 0, base::Payload::of(peer));
        groups[peer]->send(0, 0, base::Payload::of(peer));
        CHECK(groups[peer]->receive(0, 0).wait().read<std::uint32_t>() == peer);
        CHECK(groups[0]->receive(peer, 0).wait().read<std::uint32_t>() == peer);
        CHECK(t.one[0]->connections->connections() <= 2);
      }
    for (auto& group : groups) group->leave();
  });
}
