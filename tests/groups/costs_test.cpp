// SPDX-License-Identifier: Apache-2.0
// tests/groups/costs_test.cpp — schedules that groups choose if the config states the costs of
// hosts.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "groups/selection/explanation.hpp"
#include "groups/selection/network_of.hpp"
#include "tests/groups/members.hpp"
#include "tests/support/folder.hpp"

namespace {

using collectives::Collective;
using test_support::Sim;
using namespace std::chrono_literals;

const std::string costs =
    "costs: {send: {1B: 30us, 64KiB: 60us}, receive: 40us, fold_ns_per_byte: 1}\n";

groups::Call call_of(const collectives::CollectiveSpec& task, const std::string& algorithm) {
  groups::Call call;
  call.collective = task.collective;
  call.scalar = base::Scalar::f64;
  if (is_reduction(call.collective)) call.operation = "sum";
  call.counts = {task.counts.largest()};
  call.algorithm = algorithm;
  return call;
}

/// Returns the name by which a call names the schedule.
std::string text_of(const groups::RankedSchedule& schedule) {
  const std::string words = schedule.candidate.parameters.text();
  return schedule.candidate.algorithm->name + (words.empty() ? "" : ":" + words);
}

/// Returns the duration of an operation of 8-byte values on the virtual clock.
base::Nanos time_of(const Sim& sim, const collectives::CollectiveSpec& task,
                    const std::string& algorithm) {
  base::Nanos end{0};
  sim.run_well([&](paths::Thread& thread) {
    groups::Group world(thread);
    groups::Call call = call_of(task, algorithm);
    const bool has_in = call.collective != Collective::broadcast;
    std::vector<double> in(has_in ? in_range(task, world.rank()).count : 0);
    std::vector<double> out(out_range(task, world.rank()).count);
    call.in = std::as_bytes(std::span(in));
    call.out = std::as_writable_bytes(std::span(out));
    thread.sleep_for(100ms - thread.now());
    world.run(call);
    end = std::max(end, thread.now());
  });
  return end - 100ms;
}

}  // namespace

TEST_CASE("groups: with costs in the config no named schedule beats the chosen one by 1 %",
          "[without_asan][without_tsan]") {
  const std::string configs[] = {
      "clusters:\n"
      "  a: {hosts: 4, uplink: switch, network: {latency: 50us, bandwidth: 1Gbit}}\n"
      "  b: {hosts: 3, uplink: switch, network: {latency: 50us, bandwidth: 1Gbit}}\n"
      "links: {all: {latency: 2ms, bandwidth: 300Mbit}}\nlanes: {inbox: 4GiB}\n",
      "clusters: {a: {hosts: 8}}\nlanes: {inbox: 4GiB}\n"};
  int compared = 0;
  for (const std::string& config : configs) {
    const Sim sim(config + costs);
    groups::Selector selector(sim.plan(), groups::participants_of(sim.plan()));
    for (const Collective collective :
         {Collective::broadcast, Collective::reduce, Collective::allreduce, Collective::allgather})
      // Predictions count credit as unlimited. The largest size is small enough for the credit of a
      // lane in these configs.
      for (const std::uint64_t count : {1, 512, 16 * 1024}) {
        const auto task = make_spec(collective, selector.network().topology, count);
        const base::Nanos chosen = time_of(sim, task, "best");
        for (const auto& one : groups::rank_schedules(
                 selector, groups::key_of(call_of(task, "best"), task, sizeof(double)))) {
          if (!one.is_allowed) continue;
          const std::string name = text_of(one);
          const base::Nanos named = time_of(sim, task, name);
          INFO(config << name << " for " << name_of(collective) << " of " << count);
          CHECK(static_cast<double>(chosen.count()) <= 1.01 * static_cast<double>(named.count()));
          CHECK(named == one.time);
          CHECK(one.time == one.time_on_links);
          ++compared;
        }
      }
  }
  CHECK(compared > 150);
}

TEST_CASE("groups: hosts that share cores take exactly the predicted time",
          "[without_asan][without_tsan]") {
  const std::string configs[] = {
      "clusters: {a: {hosts: 8}}\n",  // no addresses, so all hosts count as being on one machine
      // Three hosts on each of two machines, and one host alone.
      "network: {security: run}\n"
      "clusters: {a: {hosts: 7, address: {a-0: 10.0.0.1, a-1: 10.0.0.1, a-2: 10.0.0.1, "
      "a-3: 10.0.0.2, a-4: 10.0.0.2, a-5: 10.0.0.2, a-6: 10.0.0.3}}}\n",
      "clusters: {a: {hosts: 7, network: {latency: 50us, bandwidth: 1Gbit}}}\n",
      "clusters: {a: {hosts: 4}, b: {hosts: 3}}\n"
      "links: {all: {latency: 2ms, bandwidth: 300Mbit}}\n",
      "clusters:\n"
      "  a: {hosts: 3, uplink: switch}\n"
      "  b: {hosts: 3, uplink: switch, network: {latency: 50us, bandwidth: 1Gbit}}\n"
      "links: {all: {latency: 1ms, bandwidth: 300Mbit}}\n"};
  int compared = 0;
  bool has_slower = false;
  for (const std::string& config : configs)
    for (const int cores : {1, 2, 3}) {
      const std::string lanes = "lanes: {inbox: 4GiB}\n";
      const Sim sim(config + lanes + "costs: {cores: " + std::to_string(cores) + ", " +
                    costs.substr(costs.find('{') + 1));
      const Sim apart(config + lanes + costs);
      groups::Selector selector(sim.plan(), groups::participants_of(sim.plan()));
      groups::Selector without(apart.plan(), groups::participants_of(apart.plan()));
      for (const Collective collective : {Collective::broadcast, Collective::allreduce})
        for (const std::uint64_t count : {1, 16 * 1024}) {
          const auto task = make_spec(collective, selector.network().topology, count);
          const auto key = groups::key_of(call_of(task, "best"), task, sizeof(double));
          const auto ranked = groups::rank_schedules(selector, key);
          has_slower |= ranked.front().time > groups::rank_schedules(without, key).front().time;
          for (const auto& one : ranked) {
            if (!one.is_allowed || ++compared % 3 != 0) continue;
            const std::string name = text_of(one);
            INFO(config << cores << " cores: " << name << " for " << name_of(collective) << " of "
                        << count);
            CHECK(time_of(sim, task, name) == one.time);
          }
        }
    }
  CHECK(compared > 150);
  CHECK(has_slower);
}

TEST_CASE("groups: costs of hosts change the time of an operation and the choice") {
  const std::string config =
      "clusters: {a: {hosts: 8, network: {latency: 1us, bandwidth: 10Gbit}}}\nlanes:\n";
  const Sim free(config), costly(config + "costs: {send: 500us, receive: 500us}\n");
  groups::Selector cheap(free.plan(), groups::participants_of(free.plan()));
  groups::Selector dear(costly.plan(), groups::participants_of(costly.plan()));
  const auto task = make_spec(Collective::broadcast, cheap.network().topology, 64 * 1024);
  const auto key = groups::key_of(call_of(task, "best"), task, sizeof(double));
  CHECK(cheap.answer(key)->text() != dear.answer(key)->text());
  CHECK(dear.assumed().message == 0ns);
  CHECK(dear.answer(key)->reason == groups::Reason::priced);
  CHECK(time_of(costly, task, "tree:shape=flat") > time_of(free, task, "tree:shape=flat") + 8ms);
}

TEST_CASE("groups: measured costs in a file are those of the config, and part of its digest") {
  const test_support::WrittenFile file("clusters: {a: {}}\nlinks: []\n" + costs);
  const test_support::WrittenFile other("clusters: {a: {}}\nlinks: []\n");
  const std::string config = "clusters: {a: {hosts: 2}}\nlanes:\n";
  const Sim stated(config + costs);
  const Sim measured(config + "costs: {from: " + file.path() + "}\n");
  CHECK(stated.plan().digest == measured.plan().digest);
  CHECK(stated.plan().digest != Sim(config).plan().digest);
  CHECK(measured.plan().costs->file == file.path());
  CHECK(stated.plan().costs->file.empty());
  CHECK_THROWS_WITH(Sim(config + "costs: {from: " + other.path() + "}\n"),
                    Catch::Contains("costs: expected a file with the key `costs`"));
}
