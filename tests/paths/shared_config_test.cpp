// SPDX-License-Identifier: Apache-2.0
// tests/paths/shared_config_test.cpp — configs with shared elements, and the hosts that map these
// elements.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <utility>

#include "tests/support/sim.hpp"

using test_support::Sim;

namespace {

std::string config_of(const std::string& cluster, const std::string& element,
                      const std::string& more = "") {
  return fmt::format(
      "{}clusters: {{a: {{hosts: 2, threads: 1{}}}}}\n"
      "elements: {{log: {{host: a-0, template: \"f64[100]\", reach: all{}}}}}\n",
      more, cluster, element);
}

bool is_mapped(const std::string& config) {
  return Sim(config).low_level().find("map: {element: log}") != std::string::npos;
}

const pastset::SharedSizes sizes_of(const std::string& element) {
  const Sim sim(config_of("", element));
  REQUIRE(sim.plan().elements.at(0).shared);
  return *sim.plan().elements[0].shared;
}

}  // namespace

TEST_CASE("shared config: a shared element is mapped on its machine unless links are emulated") {
  const std::string shared = ", shared: true";
  CHECK(is_mapped(config_of("", shared)));
  CHECK(is_mapped(config_of(", space: shared", "")));
  CHECK(is_mapped(config_of(", space: {a-0: shared}", "")));
  CHECK(is_mapped(config_of("", shared, "network: {transport: ipc}\n")));
  CHECK_FALSE(is_mapped(config_of("", "")));
  CHECK_FALSE(is_mapped(config_of(", space: {a-1: shared}", "")));
  CHECK_FALSE(is_mapped(config_of(", space: shared", ", shared: false")));
  CHECK_FALSE(is_mapped(config_of(", network: {latency: 1ms}", shared)));
  CHECK_FALSE(is_mapped(config_of("", shared, "shared_memory: false\n")));
  const std::string plain = "network: {security: plain}\n";
  CHECK(is_mapped(config_of(", address: 10.0.0.1", shared, plain)));
  CHECK_FALSE(is_mapped(config_of(", address: {a-0: 10.0.0.1, a-1: 10.0.0.2}", shared, plain)));
  const std::string two = R"(
clusters: {a: {hosts: 1, threads: 1}, b: {hosts: 1, threads: 1}}
links: [{between: [a, b]}]
elements: {log: {host: a-0, template: f64, shared: true, reach: all}}
)";
  CHECK(is_mapped(two));
}

TEST_CASE("shared config: in a shared exchange hosts map the elements into which they move") {
  const auto low_level_of = [](const std::string& exchange, const std::string& more = "") {
    return Sim("clusters: {a: {hosts: 2, threads: 2, space: shared" + more +
               "}}\nexchanges: {rows: {template: \"f64[]\"" + exchange + "}}\n")
        .low_level();
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
  };
  const std::string usual = "{slots: 1024, memory: 1MiB}";
  const std::string plain = low_level_of(""), shared = low_level_of(", shared: true");
  CHECK_FALSE(has(plain, "map: "));
  CHECK_FALSE(has(plain, usual));
  // Rank 1 is the last rank of the first host.
  for (const char* const element : {"rows.2.from_previous", "rows.1.from_next"})
    CHECK(has(shared, std::string("map: {element: ") + element));
  for (const char* const element : {"rows.1.from_previous", "rows.2.from_next"})
    CHECK_FALSE(has(shared, std::string("map: {element: ") + element));
  CHECK(has(low_level_of(", shared: {slots: 16}"), "slots: 16"));
  CHECK_FALSE(has(low_level_of(", shared: false"), "map: "));
  CHECK_FALSE(has(low_level_of(", shared: true", ", network: {latency: 1ms}"), "map: "));
}

TEST_CASE("shared config: sizes are as written or fit what the element keeps") {
  for (const auto& [element, tuples] :
       std::map<std::string, std::uint64_t>{{", shared: true", 1024},
                                            {", shared: true, keep_newest: 5000", 5002},
                                            {", shared: true, delta: 2000", 2002}}) {
    const pastset::SharedSizes sizes = sizes_of(element);
    CHECK(sizes.slots == tuples);
    CHECK(sizes.line == 64);
    CHECK(pastset::tuples_in(sizes.arena_bytes, 800) >= tuples);
    CHECK(sizes.arena_bytes < tuples * 800 * 2);
  }
  CHECK(sizes_of(", shared: {slots: 16}").slots == 16);
  CHECK(sizes_of(", shared: {memory: 64MiB}") == pastset::SharedSizes{1024, 64 << 20, 64});
  CHECK(sizes_of(", shared: {line: 1000}").line == 1000);
  // `line: 1` is raised to the number of waiting moves that the config's threads need.
  CHECK(sizes_of(", shared: {line: 1}").line > 1);
}

TEST_CASE(
    "shared config: by default an element has memory for the newest tuples that it keeps and one "
    "more") {
  const auto arena_of = [](const std::string& element) {
    const Sim sim(
        fmt::format("clusters: {{a: {{hosts: 1, threads: 1}}}}\nelements: {{log: "
                    "{{host: a-0, shared: true, reach: all, {}}}}}\n",
                    element));
    return sim.plan().elements.at(0).shared->arena_bytes;
  };
  constexpr std::uint64_t mib = 1 << 20;
  CHECK(arena_of("template: \"u8[16777216]\", keep_newest: 20") == 26 * 16 * mib);
  CHECK(arena_of("template: \"u8[16777216]\", delta: 20") == 96 * mib);
  CHECK(arena_of("template: \"u8[33554432]\"") == 6 * 32 * mib);
  CHECK(arena_of("template: \"u8[64]\"") == mib);
}

TEST_CASE(
    "shared config: all threads that reach an element and some others may wait for room in it") {
  const Sim sim(R"(
clusters: {a: {hosts: 3, threads: 100}}
elements: {log: {host: a-0, template: f64, delta: 1, shared: true, reach: all}}
)");
  CHECK(sim.plan().elements.at(0).shared->line == 2 * 300 + 32);
}

TEST_CASE("shared config: access to spaces and the lock patience are part of the config") {
  const auto plan_of = [](const std::string& spaces) {
    const Sim sim(config_of(", space: shared", "", spaces));
    const Sim again(sim.low_level());
    CHECK(again.plan().digest == sim.plan().digest);
    CHECK(again.plan().shared_access == sim.plan().shared_access);
    CHECK(again.plan().lock_patience == sim.plan().lock_patience);
    return std::pair(sim.plan().shared_access, sim.plan().lock_patience);
  };
  using pastset::SharedAccess;
  using namespace std::chrono_literals;
  CHECK(plan_of("") == std::pair(SharedAccess::own_processes, base::Nanos(10s)));
  CHECK(plan_of("shared_spaces: {}\n") == plan_of(""));
  CHECK(plan_of("shared_spaces: {access: others may read}\n").first ==
        SharedAccess::others_may_read);
  CHECK(plan_of("shared_spaces: {access: others may write, lock_patience: 250ms}\n") ==
        std::pair(SharedAccess::others_may_write, base::Nanos(250ms)));
}

TEST_CASE("shared config: a printed plan is read as the same plan") {
  const Sim sim(config_of(", space: shared", ", shared: {slots: 100, memory: 3MiB, line: 500}"));
  const Sim again(sim.low_level());
  CHECK(again.plan().digest == sim.plan().digest);
  CHECK(again.plan().elements.at(0).shared == sim.plan().elements.at(0).shared);
}
