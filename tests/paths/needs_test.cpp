// SPDX-License-Identifier: Apache-2.0
// tests/paths/needs_test.cpp — resource checks before a run.
#include "paths/run/needs.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/read_config.hpp"

namespace {

constexpr std::uint64_t gib = 1u << 30;
constexpr auto on_virtual_clock = runtime::ClockKind::virtual_time;

paths::Plan plan_of(const std::string& threads) {
  return test_support::read_config("clusters: {a: {hosts: 2, threads: " + threads + "}}");
}

runtime::Machine with_memory(std::uint64_t bytes) { return {.memory_bytes = bytes}; }

}  // namespace

TEST_CASE("needs: more threads than memory can hold are refused with both figures") {
  const paths::Plan plan = plan_of("1000000");
  const paths::RunOptions all = {.clock = on_virtual_clock};
  CHECK_NOTHROW(paths::check_needs(plan, all, with_memory(10 * gib)));
  CHECK_THROWS_AS(paths::check_needs(plan, all, with_memory(9 * gib)), std::invalid_argument);
  CHECK_THROWS_WITH(
      paths::check_needs(plan, all, with_memory(4 * gib)),
      "running the 2000000 threads of the config's 2 hosts needs 9.5 GiB of memory at "
      "least, but there are 4.0 GiB");
  const paths::RunOptions one = {.is_one_host = true, .host = 1};
  CHECK_THROWS_WITH(
      paths::check_needs(plan, one, with_memory(4 * gib)),
      "running the 1000000 threads of host a-1 needs 22.9 GiB of memory at least, but "
      "there are 4.0 GiB");
}

TEST_CASE("needs: hosts and the paths of their threads also need memory") {
  const paths::RunOptions all = {.clock = on_virtual_clock};
  const paths::Plan hosts = test_support::read_config("clusters: {a: {hosts: 1000}}");
  CHECK_NOTHROW(paths::check_needs(hosts, all, with_memory(20'000 << 10)));
  CHECK_THROWS_WITH(paths::check_needs(hosts, all, with_memory(10'000 << 10)),
                    Catch::StartsWith("running the 1000 threads of the config's 1000 hosts needs"));
  std::string text = "clusters: {a: {hosts: 1, threads: 1000}}\ncollectives:\n";
  for (int sum = 0; sum < 100; ++sum)
    text += fmt::format("  s{}: {{template: f64, operation: sum}}\n", sum);
  CHECK_THROWS_WITH(
      paths::check_needs(test_support::read_config(text), all, with_memory(10'000 << 10)),
      Catch::StartsWith("running the 1000 threads of host a-0 needs"));
}

TEST_CASE("needs: more threads than the system allows are refused only on the steady clock") {
  const paths::Plan plan = plan_of("100");
  const std::vector<std::uint32_t> both = {0, 1};
  runtime::Machine machine;
  machine.threads = 250;
  machine.threads_of_process = 202;
  CHECK_THROWS_WITH(
      paths::check_needs(plan, paths::RunOptions(), machine),
      "the 200 threads of the config's 2 hosts need 203 threads of the operating system, "
      "but there can be 202; on the virtual clock they need none");
  CHECK_NOTHROW(paths::check_needs(plan, paths::RunOptions{.clock = on_virtual_clock}, machine));
  CHECK_NOTHROW(paths::check_needs(plan, paths::RunOptions{.is_one_host = true}, machine));
  CHECK_NOTHROW(paths::check_needs(plan, both, machine));
  machine.threads = 205;
  CHECK_THROWS_WITH(
      paths::check_needs(plan, both, machine),
      "the 200 threads of the config's 2 hosts need 206 threads of the operating system, "
      "but there can be 205; on the virtual clock they need none");
}

TEST_CASE("needs: more processes than `paths run` has descriptors for are refused") {
  const paths::Plan plan = plan_of("1");
  const std::vector<std::uint32_t> both = {0, 1};
  runtime::Machine machine;
  machine.descriptors_of_process = 32;
  CHECK_NOTHROW(paths::check_needs(plan, both, machine));
  machine.descriptors_of_process = 31;
  CHECK_THROWS_WITH(paths::check_needs(plan, both, machine),
                    "to start 2 processes `paths run` needs 32 open descriptors, but there can be "
                    "31; raise the limit (ulimit -Hn), or run fewer hosts on this machine; on the "
                    "virtual clock they need none");
}

TEST_CASE("needs: sizes are printed in binary units") {
  CHECK(runtime::rounded_bytes(0) == "0.0 KiB");
  CHECK(runtime::rounded_bytes(1536) == "1.5 KiB");
  CHECK(runtime::rounded_bytes(8'000'000'000'000) == "7.3 TiB");
  CHECK(runtime::rounded_bytes(UINT64_MAX) == "16384.0 PiB");
  CHECK_THROWS_WITH(paths::check_memory(2 * gib, "a grid", with_memory(gib)),
                    "a grid needs 2.0 GiB of memory at least, but there are 1.0 GiB");
}

TEST_CASE("needs: this machine has memory and threads") {
  const runtime::Machine machine = runtime::machine();
  CHECK(machine.memory_bytes > 1u << 20);
  CHECK(machine.memory_bytes < UINT64_MAX);
  CHECK(machine.threads_of_process <= machine.threads);
}
