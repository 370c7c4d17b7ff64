// SPDX-License-Identifier: Apache-2.0
// tests/groups/many_groups_real.cpp — many groups of processes of one machine.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "groups/group.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/processes.hpp"

namespace {

using test_support::Say;

const std::vector<std::uint32_t> all = {0, 1, 2};

/// Returns the number of mappings that this process shares with others.
std::uint64_t mappings() {
  std::ifstream maps("/proc/self/maps");
  std::uint64_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    const std::size_t rights = line.find(' ') + 1;
    count += line.substr(rights, 4).ends_with('s') ? 1 : 0;
  }
  return count;
}

/// Returns the resident shared memory of this process in KiB.
std::uint64_t shared_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "RssShmem:") {
      std::uint64_t kib = 0;
      status >> kib;
      return kib;
    }
  return 0;
}

std::unique_ptr<groups::Group> used_group(paths::Thread& thread, std::uint64_t number,
                                          const Say& say) {
  auto group = std::make_unique<groups::Group>(thread, fmt::format("group {}", number), all);
  const auto in = static_cast<double>(number);
  double out = 0;
  group->run(groups::allreduce(std::span(&in, 1), std::span(&out, 1), "sum"));
  if (out != 3 * in || group->last_algorithm() != "shared_memory") say("wrong");
  return group;
}

}  // namespace

TEST_CASE("groups: groups of a machine that are made and dropped leave no memory and no mapping") {
  const std::uint64_t groups = test_support::from_environment("PATHS_GROUPS", 100);
  const test_support::Sim sim(test_support::network_line("ipc", 3) +
                              "deadline: 60s\nclusters: {a: {hosts: 3}}\nlanes:\n");
  auto hosts = test_support::start_hosts(sim, [groups](paths::Thread& thread, const Say& say) {
    std::uint64_t number = 0;
    while (number < 20) used_group(thread, ++number, say);
    const std::uint64_t mapped = mappings(), kib = shared_kib();
    while (number < groups) used_group(thread, ++number, say);
    if (mappings() > mapped + 2 || shared_kib() > kib + 64)
      say(fmt::format("grown: from {} to {} mappings, from {} to {} KiB", mapped, mappings(), kib,
                      shared_kib()));
    std::vector<std::unique_ptr<groups::Group>> alive;
    while (alive.size() < groups) alive.push_back(used_group(thread, ++number, say));
    say(fmt::format("{} KiB for each living group", (shared_kib() - kib) / groups));
  });
  for (auto& [name, host] : hosts) {
    CHECK(host.end(120'000) == 0);
    INFO(name << ": " << host.text());
    CHECK(host.lines("wrong").empty());
    CHECK(host.lines("grown").empty());
  }
}
