// SPDX-License-Identifier: Apache-2.0
// tests/groups/declared_test.cpp — groups declared in the config.
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/usage_error.hpp"
#include "groups/group.hpp"
#include "paths/config/config.hpp"
#include "paths/plan/print_plan.hpp"
#include "tests/support/read_config.hpp"
#include "tests/support/sim.hpp"
#include "tests/support/thrown.hpp"
#include "wrappers/all.hpp"

namespace {

using test_support::Sim;

const char* const declared =
    "clusters:\n"
    "  a: {hosts: {left: [a-0, a-1], right: [a-2]}, threads: 2, network: {latency: 50us}}\n"
    "  b: {hosts: 2, threads: 2, gateway: gate}\n"
    "links: [{between: [a, b], latency: 5ms}]\n"
    "groups:\n"
    "  everybody: all\n"
    "  left_and_b: [b, left]\n"
    "  some: [b-1/1, a-0/1, b-1/1, a-2]\n";

std::vector<std::uint32_t> threads_of(const paths::Plan& plan, const std::string& name) {
  for (const auto& group : plan.groups)
    if (group.name == name) return group.threads;
  return {};
}

}  // namespace

TEST_CASE(
    "declared groups: clusters and host groups and hosts and threads are members and count once") {
  const Sim sim(declared);
  CHECK(threads_of(sim.plan(), "everybody").size() == 10);
  CHECK(threads_of(sim.plan(), "left_and_b") == std::vector<std::uint32_t>{0, 1, 2, 3, 6, 7, 8, 9});
  CHECK(threads_of(sim.plan(), "some") == std::vector<std::uint32_t>{1, 4, 5, 9});
}

TEST_CASE("declared groups: an expanded config keeps them") {
  const Sim sim(declared);
  const std::string low_level = sim.low_level();
  CHECK_THAT(low_level, Catch::Contains("some: [a-0/1, a-2, b-1/1]"));
  const paths::Plan again = test_support::read_config(low_level);
  for (const char* name : {"everybody", "left_and_b", "some"})
    CHECK(threads_of(again, name) == threads_of(sim.plan(), name));
  CHECK(again.digest == sim.plan().digest);
}

TEST_CASE("declared groups: members join them by name and other threads cannot") {
  const Sim sim(declared);
  std::map<std::uint32_t, std::uint64_t> sums;
  std::vector<std::string> refused;
  sim.run_well([&](paths::Thread& thread) {
    try {
      groups::Group some(thread, groups::Declared{"some"});
      CHECK(some.size() == 4);
      CHECK(some.topology().size() == 3);
      const std::vector<std::uint64_t> mine(1, thread.rank());
      std::vector<std::uint64_t> all(1);
      some.run(groups::allreduce(mine, all, "sum"));
      sums[thread.rank()] = all.front();
    } catch (const base::UsageError& error) {
      refused.push_back(error.mistake());
    }
  });
  CHECK(sums == std::map<std::uint32_t, std::uint64_t>{{1, 19}, {4, 19}, {5, 19}, {9, 19}});
  REQUIRE(refused.size() == 6);
  CHECK_THAT(refused.front(), Catch::Contains("group some") && Catch::Contains("rank 0"));
}

TEST_CASE("declared groups: an undeclared name is an error that suggests the nearest name") {
  const Sim sim(declared);
  std::string refused;
  sim.run([&](paths::Thread& thread) {
    if (thread.rank() > 0) return;
    refused = test_support::mistake_of([&] { groups::Group(thread, groups::Declared{"sume"}); });
  });
  CHECK(refused == "group sume: the config declares none of that name; did you mean 'some'?");
}
