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
#include "tests/support/processes.hpp"

TEST_CASE("groups: random operations between processes have correct results") {
  for (std::uint64_t seed = 30'001; seed <= 30'005; ++seed)
    test_support::try_between_processes(seed, 10);
}

TEST_CASE("groups: a killed host is named to all others and groups without it continue") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) test_support::try_to_kill(seed);
}

TEST_CASE(
    "groups: different schedule files on hosts are an error and the group continues without") {
  const auto directory =
      std::filesystem::temp_directory_path() / fmt::format("paths.{}.files", ::getpid());
  const test_support::Sim sim(test_support::network_line("ipc", 3) +
                              "deadline: 20s\nclusters: {a: {hosts: 3}}\nlanes:\n");
  for (const auto& host : sim.plan().hosts) {
    std::filesystem::create_directories(directory / host.name);
    std::ofstream(directory / host.name / "s.yaml")
        << "name: x\nblocks: {a-0: 8, a-1: 8, a-2: 8}\nschedule: "
        << (host.name == "a-2" ? "bruck" : "ring") << '\n';
  }
  auto hosts =
      test_support::start_hosts(sim, [&](paths::Thread& thread, const test_support::Say& say) {
        std::filesystem::current_path(directory / thread.host().name());
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
  for (auto& [name, host] : hosts) {
    INFO(name);
    CHECK(host.end(60'000) == 0);
    INFO(host.text());
    CHECK(host.lines("done").empty());
    REQUIRE(host.lines("told: ").size() == 1);
    CHECK(host.lines("went on").size() == 1);
  }
  std::filesystem::remove_all(directory);
}

TEST_CASE("groups: a process that skipped the last operation is named at the end") {
  const test_support::Sim sim(test_support::network_line("ipc", 2) +
                              "deadline: 20s\nclusters: {a: {hosts: 2}}\nlanes:\n");
  auto hosts = test_support::start_hosts(sim, [&](paths::Thread& thread, const test_support::Say&) {
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
  const test_support::Sim sim(test_support::network_line("tcp", 6) + R"(deadline: 500ms
clusters:
  a: {hosts: 2, uplink: switch, network: {latency: 100us, bandwidth: 200Mbit}}
  b: {hosts: 2, uplink: switch, network: {latency: 100us, bandwidth: 200Mbit}}
links: {all: {latency: 5ms, bandwidth: 200Mbit}}
lanes:
)");
  auto hosts = test_support::start_hosts(sim, [](paths::Thread& thread, const test_support::Say&) {
    const std::vector<std::int64_t> mine{1};
    std::vector<std::int64_t> all(4);
    groups::Group world(thread);
    world.run(groups::by("direct", groups::allgather(mine, all)));
  });
  std::size_t named = 0;
  for (auto& [name, host] : hosts) {
    CHECK(host.end(60'000) == 1);
    INFO(name << ": " << host.text());
    CHECK(host.text().find("the switch of ") != std::string::npos);
    named += host.text().find("; waited for ") != std::string::npos ? 1 : 0;
  }
  CHECK(named > 0);
}
