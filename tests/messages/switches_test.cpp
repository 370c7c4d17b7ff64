// SPDX-License-Identifier: Apache-2.0
// tests/messages/switches_test.cpp — errors when an emulated switch or a host behind it is gone,
// and addresses of switches.
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "paths/plan/emulated_switches.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/lane_hosts.hpp"
#include "tests/support/thrown.hpp"

namespace {

using namespace std::chrono_literals;
using base::Payload;
using test_support::LaneHosts;
using test_support::thrown;

std::shared_ptr<paths::Plan> switched(const std::vector<std::uint32_t>& sizes,
                                      const std::vector<bool>& has_switch) {
  auto plan = test_support::lane_plan(sizes, "{latency: 50us}", "{latency: 10ms}");
  for (std::size_t cluster = 0; cluster < sizes.size(); ++cluster)
    plan->ways->clusters[cluster].has_switch = has_switch[cluster];
  return plan;
}

/// Errors of receives, keyed by receiver and source. Every host starts a receive from every other
/// host, and no host sends. Then `victim`, a host or switch, is killed. A receive without an error
/// within 1 s has no entry.
using Waiter = std::map<std::pair<std::uint32_t, std::uint32_t>, std::string>;
Waiter told_when_gone(const std::shared_ptr<paths::Plan>& plan, std::uint32_t victim) {
  Waiter told;
  test_support::on_virtual_clock([&](runtime::Runtime& runtime) {
    LaneHosts hosts(runtime, plan);
    const auto clusters = static_cast<std::uint32_t>(plan->clusters.size());
    for (std::uint32_t host = 0; host < hosts.size(); ++host) hosts[host].look_at_neighbours();
    for (std::uint32_t cluster = 0; cluster < clusters; ++cluster)
      if (is_switch_emulated(*plan, cluster))
        hosts[switch_number(*plan, cluster)].look_at_neighbours();
    const auto groups = hosts.groups();
    std::vector<runtime::Task> waiting;
    for (std::uint32_t host = 0; host < hosts.size(); ++host)
      for (std::uint32_t peer = 0; peer < hosts.size(); ++peer)
        if (host != peer && host != victim)
          waiting.push_back(runtime.spawn(
              runtime::ContextRole::thread, {"thread", plan->hosts[host].name}, [&, host, peer] {
                auto receiving = groups[host]->receive(peer, peer % 2);
                runtime::WaitSet one(runtime);
                one.add(receiving);
                if (!one.any(runtime::Deadline::written_at(1s))) return;
                told[{host, peer}] = thrown<paths::TravelError>([&] { receiving.wait(); });
              }));
    runtime.sleep_until(200ms);
    hosts.kill(victim);
    for (auto& one : waiting) one.join();
  });
  return told;
}

}  // namespace

TEST_CASE("switches: losing a switch loses the hosts beyond it and no others") {
  const auto plan = switched({3, 2, 1}, {true, true, false});
  const std::uint32_t victim = switch_number(*plan, 0);
  const Waiter told = told_when_gone(plan, victim);
  for (std::uint32_t host = 0; host < 6; ++host)
    for (std::uint32_t peer = 0; peer < 6; ++peer) {
      if (host == peer) continue;
      INFO(host << " of " << peer);
      const bool is_beyond = (host < 3) != (peer < 3);
      REQUIRE(told.contains({host, peer}) == is_beyond);
      if (is_beyond)
        CHECK_THAT(told.at({host, peer}), Catch::Contains("the switch of a is gone: it died"));
    }
}

TEST_CASE(
    "switches: the loss of any host or switch fails all receives from it or through it and no "
    "others") {
  std::mt19937_64 random(Catch::rngSeed());
  for (int round = 0; round < 60; ++round) {
    std::vector<std::uint32_t> sizes;
    std::vector<bool> has_switch;
    for (std::uint64_t i = 2 + random() % 2; i > 0; --i) {
      sizes.push_back(1 + static_cast<std::uint32_t>(random() % 3));
      has_switch.push_back(random() % 3 != 0);
    }
    const auto plan = switched(sizes, has_switch);
    const auto hosts = static_cast<std::uint32_t>(plan->hosts.size());
    std::uint32_t victim = 0;
    do {
      victim = static_cast<std::uint32_t>(random() % (hosts + sizes.size()));
    } while (victim >= hosts && !is_switch_emulated(*plan, victim - hosts));
    const Waiter told = told_when_gone(plan, victim);
    for (std::uint32_t host = 0; host < hosts; ++host)
      for (std::uint32_t peer = 0; peer < hosts; ++peer) {
        if (host == peer || host == victim) continue;
        INFO("seed " << Catch::rngSeed() << ", round " << round << ": " << place_text(*plan, victim)
                     << " gone, " << plan->hosts[host].name << " waits for "
                     << plan->hosts[peer].name);
        const bool is_over = peer == victim || way_leads_through(*plan, host, peer, victim) ||
                             way_leads_through(*plan, peer, host, victim);
        REQUIRE(told.contains({host, peer}) == is_over);
        if (is_over)
          CHECK_THAT(told.at({host, peer}),
                     Catch::Contains(place_text(*plan, victim) + " is gone: it died"));
      }
  }
}

TEST_CASE("switches: a late receive from a host whose loss only its switch knows fails") {
  const auto plan = switched({2, 2}, {true, true});
  test_support::on_virtual_clock([&](runtime::Runtime& runtime) {
    LaneHosts hosts(runtime, plan);
    for (const std::uint32_t place : {0, 1, 2, 3, 4, 5}) hosts[place].look_at_neighbours();
    runtime.sleep_until(100ms);
    hosts.kill(1);
    runtime.sleep_until(200ms);
    const auto group = hosts[2].group("late", {1, 2});
    CHECK_THAT(thrown<paths::TravelError>([&] { group->receive(1, 0).wait(); }),
               Catch::Contains("host a1 is gone: it died"));
  });
}

TEST_CASE("switches: a host that connects after a switch has gone learns of the loss") {
  const auto plan = switched({1, 1}, {true, true});
  test_support::on_virtual_clock([&](runtime::Runtime& runtime) {
    LaneHosts hosts(runtime, plan);
    for (const std::uint32_t place : {2, 3}) hosts[place].look_at_neighbours();
    runtime.sleep_until(100ms);
    // Kills the switch of cluster a before the host of cluster b has connected to it.
    hosts.kill(2);
    hosts[1].look_at_neighbours();
    const auto group = hosts[1].group("late", {0, 1});
    CHECK_THAT(thrown<paths::TravelError>([&] { group->receive(0, 0).wait(); }),
               Catch::Contains("the switch of a is gone: it died"));
  });
}

TEST_CASE(
    "switches: a switch ends after each of its hosts has ended or died or missed the deadline") {
  const auto plan = switched({3, 1}, {true, true});
  plan->deadline = 5s;
  plan->deadline_written = true;
  test_support::on_virtual_clock([&](runtime::Runtime& runtime) {
    LaneHosts hosts(runtime, plan);
    paths::MessageEndpoint& one = hosts[switch_number(*plan, 0)];
    base::Nanos ended{0};
    runtime::Task end = runtime.spawn(runtime::ContextRole::service, {"end"}, [&] {
      one.finish();
      ended = runtime.now();
    });
    for (const std::uint32_t host : {0, 1}) hosts[host].look_at_neighbours();
    const auto sender = hosts[0].group("two", {0, 3}), receiver = hosts[3].group("two", {0, 3});
    runtime.sleep_until(6s);
    CHECK(ended == 0s);
    hosts.kill(1);
    sender->send(3, 0, Payload::of(7)).wait();
    runtime.sleep_until(6s + 1ms);
    one.host_ended(0);
    CHECK(receiver->receive(0, 0).wait().payload.read<int>() ==
          7);  // the switch still forwards the message after the host's end
    end.join();
    CHECK(ended == 6s + 10ms + 50us);
  });
}

TEST_CASE("switches: a switch is emulated if a link from its cluster is") {
  const auto plan = switched({1, 1, 1}, {true, true, false});
  plan->ways->links[{1, 0}] = base::Settings();
  CHECK(is_switch_emulated(*plan, 0));
  CHECK(is_switch_emulated(*plan, 1));
  plan->ways->links[{1, 2}] = base::Settings();
  CHECK_FALSE(is_switch_emulated(*plan, 1));
  CHECK_FALSE(is_switch_emulated(*plan, 2));
  // Hosts of cluster 1 have no emulated switch, so they send directly.
  CHECK(way_leads_through(*plan, 0, 1, switch_number(*plan, 0)));
  CHECK_FALSE(way_leads_through(*plan, 1, 0, switch_number(*plan, 1)));
}

TEST_CASE(
    "switches: a switch listens next to the first host of its cluster at an address of no host") {
  const auto plan = switched({2, 1, 1}, {true, false, true});
  plan->hosts[0].address = "tcp://10.0.0.1:7700";
  plan->hosts[1].address = "tcp://10.0.0.1:7701";
  plan->hosts[2].address = "tcp://10.0.0.2:7800";
  plan->hosts[3].address = "tcp://[::1]:7702";
  CHECK(switch_address(*plan, 0) == "tcp://10.0.0.1:7801");
  CHECK(switch_address(*plan, 2) == "tcp://[::1]:7802");
  plan->hosts[2].address = "tcp://10.0.0.2:65534";
  CHECK(switch_address(*plan, 0) == "tcp://10.0.0.1:65535");
  CHECK_THROWS_WITH(switch_address(*plan, 2),
                    Catch::Contains("the switch of c") && Catch::Contains("none beyond 65535"));
  plan->hosts[0].address = "ipc:///run/paths/a0";
  plan->hosts[3].address = "ipc://config/c0";
  CHECK(switch_address(*plan, 0) == "ipc:///run/paths/switch:a");
  CHECK(switch_address(*plan, 2) == "ipc://config/switch:c");
}
