// SPDX-License-Identifier: Apache-2.0
// tests/messages/lanes_end_test.cpp — hosts that stay until the threads of all hosts have ended.
#include <atomic>
#include <catch2/catch.hpp>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "tests/support/as_child.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/lane_hosts.hpp"

namespace {

using base::Nanos;
using paths::LaneFrame;
using paths::LaneKind;
using namespace std::chrono_literals;
using namespace test_support;

struct Ending {
  std::vector<Nanos> ends;       ///< indexed by host; 0 = the host died
  std::size_t told_between = 0;  ///< number of frames by which exits announce ends to each other
};

/// Runs all hosts of a plan with one host per cluster. The thread of host `late` ends after `last`.
/// Host `victim` dies after half a second. The threads of all other hosts end at random times
/// within a second.
Ending ends_of(std::shared_ptr<paths::Plan> plan, std::uint32_t late, Nanos last,
               std::optional<std::uint32_t> victim = {}) {
  plan->lanes.is_written = true;
  Ending ending;
  ending.ends.resize(plan->hosts.size());
  on_virtual_clock([&](runtime::Runtime& runtime) {
    LaneHosts hosts(runtime, plan);
    hosts.on_frame = [&](std::uint32_t, std::uint32_t, LaneFrame& frame) {
      ending.told_between += frame.kind == LaneKind::done ? 1 : 0;
    };
    std::mt19937_64 random(7);
    std::vector<Nanos> at;
    for (std::uint32_t host = 0; host < hosts.size(); ++host)
      at.emplace_back(random() % 1'000'000'000);
    in_threads(runtime, hosts.size(), [&](std::uint32_t host) {
      if (host == victim) {
        runtime.sleep_until(500ms);
        return hosts.kill(host);
      }
      runtime.sleep_until(host == late ? last : at[host]);
      hosts[host].finish();
      ending.ends[host] = runtime.now();
    });
  });
  return ending;
}

}  // namespace

TEST_CASE("lanes: the end of a host is delivered after messages that arrive at the same moment") {
  on_virtual_clock([&](runtime::Runtime& runtime) {
    LaneHosts hosts(runtime, lane_plan({1, 1}, "", "{latency: 100ms}"));
    const auto here = hosts[0].group("all", hosts.all()),
               there = hosts[1].group("all", hosts.all());
    // Both `says` and the context that delivers frames wake at 400 ms. `says` runs first, because
    // it went to sleep first.
    runtime::Task says = runtime.spawn(runtime::ContextRole::thread, {"says", {}, 0}, [&] {
      runtime.sleep_until(400ms);
      hosts[1].host_ended(0);
    });
    runtime.sleep_until(300ms);  // the receiver's credit has arrived before 300 ms
    auto sending = here->send(1, 0, base::Payload::of(7));
    CHECK(there->receive(0, 0).wait().payload.read<int>() == 7);
    CHECK(runtime.now() == 400ms);
    CHECK_THROWS_WITH(there->receive(0, 0).wait(), Catch::Contains("it has ended"));
    sending.wait();
    says.join();
  });
}

TEST_CASE("lanes: the end of a host is delivered after messages whose first byte arrives then") {
  on_virtual_clock([&](runtime::Runtime& runtime) {
    LaneHosts hosts(runtime, lane_plan({1, 1}, "", "{latency: 100ms, bandwidth: 8Mbit}"));
    const auto here = hosts[0].group("all", hosts.all()),
               there = hosts[1].group("all", hosts.all());
    runtime::Task says = runtime.spawn(runtime::ContextRole::thread, {"says", {}, 0}, [&] {
      runtime.sleep_until(400ms);
      hosts[1].host_ended(0);
    });
    runtime.sleep_until(300ms);
    auto sending = here->send(1, 0, base::Payload::filled(10'000, [](std::span<std::byte>) {}));
    CHECK(there->receive(0, 0).wait().payload.size() == 10'000);
    CHECK(runtime.now() == 410ms);
    sending.wait();
    says.join();
  });
}

TEST_CASE("lanes: hosts stay until the threads of all clusters have ended and then leave",
          "[without_asan][without_tsan]") {
  for (const std::uint32_t clusters : {2, 3, 32, 33, 70, 1100}) {
    INFO(clusters << " clusters");
    const bool is_one_round = clusters <= 32, are_two = clusters <= 32 * 32;
    const auto latencies = is_one_round ? 1 : are_two ? 2 : 3;
    for (const std::uint32_t late : {clusters / 2, 0u, clusters - 1}) {
      if (clusters > 100 && late != clusters / 2) continue;  // each case takes seconds
      const Ending ending = ends_of(
          lane_plan(std::vector<std::uint32_t>(clusters, 1), "", "{latency: 10ms}"), late, 2s);
      for (std::uint32_t host = 0; host < clusters; ++host) {
        INFO("host " << host << " where " << late << " is late");
        CHECK(ending.ends[host] > 2s);
        CHECK(ending.ends[host] <= 2s + latencies * 10ms);
      }
      if (is_one_round) CHECK(ending.told_between == clusters * (clusters - 1));
      CHECK(ending.told_between <= clusters * 64);
    }
  }
}

TEST_CASE(
    "lanes: without links between some clusters each waits only for the clusters that it can "
    "reach") {
  const auto plan = lane_plan(std::vector<std::uint32_t>(40, 1), "", "{latency: 10ms}");
  plan->ways->links.erase({3, 5});
  plan->ways->links.erase({5, 3});
  const Ending ending = ends_of(plan, 3, 2s);
  for (std::uint32_t host = 0; host < 40; ++host) CHECK((ending.ends[host] > 2s) == (host != 5));
}

TEST_CASE("lanes: a dead host does not keep other hosts from ending") {
  for (const std::uint32_t victim : {0, 1, 20, 39}) {
    const Ending ending =
        ends_of(lane_plan(std::vector<std::uint32_t>(40, 1), "", "{latency: 10ms}"), 7, 2s, victim);
    for (std::uint32_t host = 0; host < 40; ++host)
      if (host != victim) CHECK(ending.ends[host] > 0s);
  }
}

TEST_CASE("lanes: a host that arrives late names a host that died before") {
  const auto plan = lane_plan({3, 1}, "", "{latency: 10ms}");
  plan->lanes.is_written = true;
  on_virtual_clock([&](runtime::Runtime& runtime) {
    LaneHosts hosts(runtime, plan);
    constexpr std::uint32_t victim = 1;  // only the exit of its cluster receives host_lost()
    hosts[victim].begin();
    hosts.kill(victim);
    for (const std::uint32_t host : {0, 2, 3}) hosts[host].begin();
    for (const std::uint32_t host : {0, 2, 3}) {
      INFO("host " << host);
      hosts[host].await_all();
      const auto group = hosts[host].group("all", hosts.all());
      CHECK_THROWS_WITH(group->receive(victim, 0).wait(),
                        Catch::Contains("host a1 is gone: it died"));
    }
    CHECK(runtime.now() < 1s);
  });
}

TEST_CASE("lanes: a host that joins a group late names the loss that made another host leave") {
  const auto plan = lane_plan({3}, "", "");
  plan->lanes.is_written = true;
  on_virtual_clock([&](runtime::Runtime& runtime) {
    LaneHosts hosts(runtime, plan);
    auto group = hosts[2].group("all", hosts.all());
    auto sending = group->send(1, 0, base::Payload::of(7));
    hosts.kill(0);
    CHECK_THROWS_WITH(group->receive(0, 0).wait(), Catch::Contains("host a0 is gone: it died"));
    group.reset();  // a thread that fails destroys its group in the same way
    hosts[1].host_ended(2);
    runtime.sleep_for(1ms);
    const auto late = hosts[1].group("all", hosts.all());
    CHECK_THROWS_WITH(late->receive(2, 0).wait(),
                      Catch::Contains("has left group all: host a0 is gone: it died"));
  });
}

TEST_CASE("lanes: a host that leaves because another host left passes on the reason") {
  const auto plan = lane_plan({3}, "", "");
  plan->lanes.is_written = true;
  on_virtual_clock([&](runtime::Runtime& runtime) {
    LaneHosts hosts(runtime, plan);
    const auto first = hosts[0].group("all", hosts.all());
    auto second = hosts[1].group("all", hosts.all());
    const auto third = hosts[2].group("all", hosts.all());
    first->abandon("host b0 is gone: it died");
    CHECK_THROWS_WITH(second->receive(0, 0).wait(), Catch::Contains("host b0 is gone"));
    second.reset();  // a thread that fails destroys its group in the same way
    CHECK_THROWS_WITH(third->receive(1, 0).wait(), Catch::Contains("host b0 is gone: it died"));
  });
}

TEST_CASE("lanes: if end frames are lost the hosts end within a deadline and name each other") {
  for (const std::vector<std::uint32_t>& sizes : {std::vector{1u, 1u}, std::vector{2u, 2u}}) {
    const auto plan = lane_plan(sizes, "", "");
    plan->lanes.is_written = true;
    plan->deadline = 400ms;
    std::vector<std::string> wrong(plan->hosts.size());
    on_steady_clock([&](runtime::Runtime& runtime) {
      LaneHosts hosts(runtime, plan);
      hosts.swallowed = LaneKind::done;
      in_threads(runtime, hosts.size(),
                 [&](std::uint32_t host) { wrong[host] = hosts[host].finish(); });
    });
    for (std::uint32_t host = 0; host < wrong.size(); ++host) {
      INFO(wrong[host]);
      CHECK_THAT(wrong[host], Catch::StartsWith("host " + plan->hosts[host].name + ": host "));
      CHECK_THAT(wrong[host], !Catch::Contains("host " + plan->hosts[host].name + " is gone"));
      CHECK_THAT(wrong[host], Catch::Contains("threads have ended"));
      CHECK_THAT(wrong[host], Catch::Contains("200ms"));
    }
  }
}

TEST_CASE("lanes: a host with running threads is awaited beyond a short deadline") {
  const auto plan = lane_plan({1, 1}, "", "");
  plan->lanes.is_written = true;
  plan->deadline = 20ms;
  std::string wrong_early, wrong_late;
  std::atomic<bool> has_ended{false}, was_waited_for{false};
  on_steady_clock([&](runtime::Runtime& runtime) {
    LaneHosts hosts(runtime, plan);
    runtime::Task early = runtime.spawn(runtime::ContextRole::thread, {"early"}, [&] {
      wrong_early = hosts[0].finish();
      was_waited_for = has_ended.load();
    });
    runtime.sleep_for(200ms);
    has_ended = true;
    wrong_late = hosts[1].finish();
    early.join();
  });
  CHECK(was_waited_for);
  CHECK(wrong_early == "");
  CHECK(wrong_late == "");
}

TEST_CASE("lanes: a dead host fails the end of all others in one cluster and in several") {
  for (const std::vector<std::uint32_t>& sizes : {std::vector{3u}, std::vector{2u, 1u}}) {
    for (const std::uint32_t victim : {0, 1, 2}) {
      const auto plan = lane_plan(sizes, "", "");
      plan->lanes.is_written = true;
      std::vector<std::string> wrong(3);
      on_virtual_clock([&](runtime::Runtime& runtime) {
        LaneHosts hosts(runtime, plan);
        for (std::uint32_t host = 0; host < 3; ++host) hosts[host].begin();
        runtime.sleep_for(1ms);
        hosts.kill(victim);
        in_threads(runtime, hosts.size(), [&](std::uint32_t host) {
          if (host != victim) wrong[host] = hosts[host].finish();
        });
      });
      for (std::uint32_t host = 0; host < 3; ++host)
        if (host != victim)
          CHECK_THAT(wrong[host],
                     Catch::Contains("host " + plan->hosts[victim].name + " is gone: it died"));
    }
  }
}

TEST_CASE("lanes: a host ends without an error about a loss that one of its receives reported") {
  const auto plan = lane_plan({3}, "", "");
  plan->lanes.is_written = true;
  on_virtual_clock([&](runtime::Runtime& runtime) {
    LaneHosts hosts(runtime, plan);
    for (std::uint32_t host = 0; host < 3; ++host) hosts[host].begin();
    auto groups = hosts.groups();
    runtime.sleep_for(1ms);
    hosts.kill(2);
    CHECK_THROWS_WITH(groups[0]->receive(2, 0).wait(), Catch::Contains("host a2 is gone"));
    groups.clear();
    in_threads(runtime, hosts.size(), [&](std::uint32_t host) {
      if (host == 2) return;
      const std::string wrong = hosts[host].finish();
      CHECK((wrong == "") == (host == 0));
    });
  });
}

TEST_CASE("lanes: threads begin when all hosts of any number of clusters have arrived") {
  for (const std::uint32_t clusters : {1, 2, 33, 70}) {
    const auto plan =
        lane_plan(std::vector<std::uint32_t>(clusters, 2), "{latency: 50ms}", "{latency: 100ms}");
    plan->lanes.is_written = true;
    on_virtual_clock([&](runtime::Runtime& runtime) {
      LaneHosts hosts(runtime, plan);
      const std::uint32_t late = clusters;  // number of a host near the middle of all hosts
      in_threads(runtime, hosts.size(), [&](std::uint32_t host) {
        if (host == late) runtime.sleep_until(7s);
        hosts[host].begin();
        hosts[host].await_all();
        CHECK(runtime.now() == 7s);  // frames that announce arrivals do not wait for emulated links
      });
    });
  }
}

TEST_CASE("lanes: a host that waits to begin says so after 5 s and then each time twice as late") {
  const Said said = as_child("a host is late", [] {
    const auto plan = lane_plan({3}, "", "");
    plan->lanes.is_written = true;
    on_virtual_clock([&](runtime::Runtime& runtime) {
      LaneHosts hosts(runtime, plan);
      in_threads(runtime, hosts.size(), [&](std::uint32_t host) {
        if (host == 2) runtime.sleep_until(60s);
        hosts[host].begin();
        hosts[host].await_all();
      });
    });
  });
  CHECK(said.exit_code == 0);
  std::vector<std::string> waits;
  const std::regex line("host a1 has waited ([0-9a-z]+) for all hosts of the run to connect");
  for (std::sregex_iterator one(said.text.begin(), said.text.end(), line), last; one != last; ++one)
    waits.push_back((*one)[1]);
  CHECK(waits == std::vector<std::string>{"5s", "15s", "35s"});
}

TEST_CASE("lanes: threads begin without a host that is gone") {
  const auto plan = lane_plan({2, 2}, "", "");
  plan->lanes.is_written = true;
  for (const std::uint32_t victim : {0, 1, 2, 3}) {
    on_virtual_clock([&](runtime::Runtime& runtime) {
      LaneHosts hosts(runtime, plan);
      std::vector<runtime::Task> beginning;
      for (std::uint32_t host = 0; host < 4; ++host) {
        if (host == victim) continue;
        hosts[host].begin();
        beginning.push_back(
            runtime.spawn(runtime::ContextRole::thread, {"begin", {}, host}, [&, host] {
              hosts[host].await_all();
              CHECK(runtime.now() == 3s);
            }));
      }
      runtime.sleep_until(3s);
      // Reports the loss of the victim to each other host, as happens when the host's connection to
      // the victim fails.
      for (std::uint32_t host = 0; host < 4; ++host)
        if (host != victim) hosts[host].host_lost(victim, "it did not come");
      for (auto& one : beginning) one.join();
    });
  }
}
