// SPDX-License-Identifier: Apache-2.0
// tests/groups/processes_real.cpp — groups of hosts in separate processes, some of which are
// killed.
#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "groups/group.hpp"
#include "paths/host/host.hpp"
#include "tests/groups/random_operations.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/processes.hpp"

using namespace test_support;

TEST_CASE("groups: random operations between processes have correct results") {
  for (std::uint64_t seed = 30'001; seed <= 30'005; ++seed) try_between_processes(seed, 10);
}

TEST_CASE("groups: a killed host is named to all others and groups without it continue") {
  const bool is_one_cluster = GENERATE(false, true);
  CAPTURE(is_one_cluster);
  for (std::uint64_t seed = 1; seed <= or_fewer(10); ++seed) try_to_kill(seed, is_one_cluster);
}

TEST_CASE(
    "groups: different schedule files on hosts are an error and the group continues without") {
  const Folder folder;
  const Sim sim(network_line("ipc", 3) + "deadline: 20s\nclusters: {a: {hosts: 3}}\nlanes:\n");
  for (const auto& host : sim.plan().hosts) {
    std::filesystem::create_directories(folder.path() / host.name);
    folder.write(host.name + "/s.yaml",
                 fmt::format("name: x\nblocks: {{a-0: 8, a-1: 8, a-2: 8}}\nschedule: {}\n",
                             host.name == "a-2" ? "bruck" : "ring"));
  }
  auto hosts = start_hosts(sim, [&](paths::Thread& thread, const Say& say) {
    std::filesystem::current_path(folder.path() / thread.host().name());
    const std::vector<std::int64_t> mine{1};
    std::vector<std::int64_t> all(3);
    {
      groups::Group world(thread);
      try {
        world.run(groups::by("file:s.yaml", groups::allgather(mine, all)));
        say("done");
      } catch (const paths::TravelError& error) {
        say(fmt::format("told: {}", error.what()));
      }
    }
    groups::Group again(thread, "again", {0, 1, 2});
    again.run(groups::allgather(mine, all));
    say("went on");
  });
  each_end(hosts, [](const std::string&, const HostProcess& host, int code) {
    CHECK(code == 0);
    CHECK(host.lines("done").empty());
    CHECK(host.lines("told: ").size() == 1);
    CHECK(host.lines("went on").size() == 1);
  });
}

TEST_CASE("groups: a process that skipped the last operation is named at the end") {
  const Sim sim(network_line("ipc", 2) + "deadline: 20s\nclusters: {a: {hosts: 2}}\nlanes:\n");
  auto hosts = start_hosts(sim, [&](paths::Thread& thread, const Say&) {
    std::vector<std::int64_t> values(thread.rank() == 0 ? 4 : 0);
    groups::Group world(thread);
    world.run(groups::barrier());
    world.run(groups::broadcast(values, 0));
  });
  std::string said;
  bool has_failed = false;
  for (auto& [name, host] : hosts) {
    has_failed = host.end(60'000) != 0 || has_failed;
    said += host.text();
  }
  INFO(said);
  CHECK(has_failed);
  CHECK(said.find("'broadcast i64 from 0, 0 by best'") != std::string::npos);
}

TEST_CASE("groups: a wait for messages over a switch that was never started names the switch") {
  const Sim sim(network_line("tcp", 6) + R"(deadline: 500ms
clusters:
  a: {hosts: 2, uplink: switch, network: {latency: 100us, bandwidth: 200Mbit}}
  b: {hosts: 2, uplink: switch, network: {latency: 100us, bandwidth: 200Mbit}}
links: {all: {latency: 5ms, bandwidth: 200Mbit}}
lanes:
)");
  auto hosts = start_hosts(sim, [](paths::Thread& thread, const Say&) {
    const std::vector<std::int64_t> mine{1};
    std::vector<std::int64_t> all(4);
    groups::Group world(thread);
    world.run(groups::by("direct", groups::allgather(mine, all)));
  });
  std::size_t named = 0;
  each_end(hosts, [&](const std::string&, const HostProcess& host, int code) {
    CHECK(code == 1);
    CHECK(host.text().find("the switch of ") != std::string::npos);
    named += host.text().find("; waited for ") != std::string::npos ? 1 : 0;
  });
  CHECK(named > 0);
}
