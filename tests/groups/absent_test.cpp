// SPDX-License-Identifier: Apache-2.0
// tests/groups/absent_test.cpp — members that never join a group: their threads ended, or their
// split failed.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "paths/host/host.hpp"
#include "tests/groups/members.hpp"
#include "tests/support/thrown.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;

/// Returns the longest duration after which an error must have arrived. This duration is far below
/// the deadline of 60 s.
base::Nanos promptly(runtime::ClockKind clock) {
  return clock == runtime::ClockKind::virtual_time ? 1s : 30s;
}

const std::string two_hosts = R"(
deadline: 60s
clusters: {a: {hosts: 2, threads: 2}}
lanes:
)";

/// Runs a barrier of the group. Returns the error that it throws, or "nothing".
std::string ending(paths::Thread& thread, const std::string& name, const Threads& members) {
  return thrown<paths::TravelError>([&] {
    groups::Group group(thread, name, members);
    group.run(groups::barrier());
  });
}

struct Case {
  std::string name;
  std::string config;
  std::uint32_t absent;             ///< thread that ends without joining
  std::vector<std::uint32_t> stay;  ///< threads that stay alive outside the group
  Threads members;
};

std::vector<Case> cases() {
  const std::string three = "deadline: 60s\nclusters: {a: {hosts: 3}}\nlanes:\n";
  const std::string unlinked = "deadline: 60s\nclusters: {a: {hosts: 3}}\n";
  const std::string apart =
      "deadline: 60s\n"
      "clusters: {a: {hosts: 2}, b: {hosts: 2}}\n"
      "links: {all: {latency: 10ms, bandwidth: 1Gbit}}\nlanes:\n";
  return {
      {"a thread of the same host", two_hosts, 1, {2, 3}, {0, 1}},
      {"a thread of another host whose other thread lives", two_hosts, 2, {1, 3}, {0, 2}},
      {"a thread of another host whose other thread is a member", two_hosts, 2, {}, {0, 1, 2, 3}},
      {"a thread of the same host, of all threads", two_hosts, 1, {}, {0, 1, 2, 3}},
      {"the only thread of a host", three, 2, {}, {0, 1, 2}},
      {"the first host", three, 0, {}, {0, 1, 2}},
      {"the only thread of a host, in another order", three, 1, {}, {2, 1, 0}},
      {"the only thread of a host, without the key lanes", unlinked, 2, {}, {0, 1, 2}},
      {"a host of another cluster", apart, 3, {}, {0, 1, 2, 3}},
      {"the exit of another cluster", apart, 2, {}, {0, 1, 2, 3}},
  };
}

/// Checks that each member promptly gets an error, which names the absent thread and its host.
void check_named(const Case& one, bool is_ended_before, runtime::ClockKind clock) {
  const Sim sim(one.config);
  std::map<std::uint32_t, std::string> told;
  std::map<std::uint32_t, base::Nanos> when;
  runtime::Mutex mutex;
  std::atomic<std::size_t> left{one.members.size() - 1};
  const SimResult result = sim.run(
      [&](paths::Thread& thread) {
        const std::uint32_t rank = thread.rank();
        if (rank == one.absent) {
          if (!is_ended_before) thread.sleep_for(50ms);
          return;
        }
        if (std::find(one.stay.begin(), one.stay.end(), rank) != one.stay.end()) {
          while (left > 0 && thread.now() < 2 * promptly(clock)) thread.sleep_for(10ms);
          return;
        }
        if (is_ended_before) thread.sleep_for(50ms);
        const std::string text = ending(thread, "some", one.members);
        const runtime::Lock lock(mutex);
        told[rank] = text;
        when[rank] = thread.now();
        --left;
      },
      clock);
  INFO(one.name << (is_ended_before ? ", before the group is made" : ", after it was made"));
  CHECK(result.broke == "");
  CHECK(told.size() == one.members.size() - 1);
  const std::string host = sim.plan().hosts[0].threads == 2
                               ? fmt::format("thread a-{}/{}", one.absent / 2, one.absent % 2)
                               : sim.plan().hosts[one.absent].name;
  for (const auto& [rank, text] : told) {
    INFO("member of rank " << rank << ": " << text);
    CHECK_THAT(text, Catch::Contains(host));
    CHECK_THAT(text, Catch::Contains("ended"));
    CHECK(when[rank] < promptly(clock));
  }
}

}  // namespace

TEST_CASE("groups: a member whose thread ended is named to all others long before the deadline") {
  for (const Case& one : cases())
    for (const bool is_ended_before : {true, false})
      check_named(one, is_ended_before, runtime::ClockKind::virtual_time);
}

TEST_CASE("groups: members whose threads ended are named on the steady clock too") {
  for (const Case& one : cases()) check_named(one, true, runtime::ClockKind::steady);
}

TEST_CASE("groups: a group ends if its other members have left and one thread has ended") {
  Sim(two_hosts).run_well([](paths::Thread& thread) {
    if (thread.rank() == 1) return thread.sleep_for(10ms);
    if (thread.rank() != 0) return;
    for (int i = 0; i < 2; ++i)
      CHECK_THAT(ending(thread, "some", {0, 1}), Catch::Contains("thread a-0/1 has ended"));
    CHECK(thread.now() < promptly(runtime::ClockKind::virtual_time));
  });
}

TEST_CASE("groups: a part of a split that failed for another member fails and names the reason") {
  const std::string config = R"(
deadline: 60s
clusters: {a: {hosts: 1}, b: {hosts: 1}}
links: {all: {latency: 10ms, bandwidth: 1Gbit}}
lanes:
)";
  for (const bool goes_on : {true, false}) {
    std::string told;
    base::Nanos end{0};
    const SimResult result = Sim(config).run([&](paths::Thread& thread) {
      std::optional<groups::Group> world(thread);
      if (thread.rank() == 1) {
        // The service reports the loss of the other host on this host, while values of the other
        // host are still on their way.
        runtime::Task losing = thread.deployment().services().spawn("loses a host", [&] {
          thread.deployment().runtime().sleep_for(105ms);
          thread.host().lanes().host_lost(0, "the test says so");
        });
        CHECK_THROWS_WITH(world->split(0), Catch::Contains("the test says so"));
        losing.join();
        if (!goes_on) world.reset();
        return thread.sleep_for(10s);
      }
      thread.sleep_for(100ms);  // within 100 ms the values of the other host arrive
      const auto part = world->split(0);
      told = thrown<paths::TravelError>([&] { part->run(groups::barrier()); });
      end = thread.now();
    });
    INFO(told);
    CHECK(result.broke == "");
    CHECK_THAT(told, Catch::Contains("world") && Catch::Contains("the test says so"));
    CHECK(end < promptly(runtime::ClockKind::virtual_time));
  }
}

TEST_CASE("groups: an operation that only waits to send names the host that does not receive") {
  const std::string config = "deadline: 3s\nclusters: {a: {hosts: 2}}\nlanes: {inbox: 0B}\n";
  std::string told;
  const SimResult result = Sim(config).run([&](paths::Thread& thread) {
    if (thread.rank() == 1) return thread.sleep_for(10s);
    groups::Group world(thread);
    std::vector<double> values(1000);
    told = thrown<paths::TravelError>([&] { world.run(groups::broadcast(values, 0)); });
  });
  CHECK(result.broke == "");
  CHECK_THAT(told, Catch::Contains("host a-0 received nothing for 3s; waited for host a-1"));
}
