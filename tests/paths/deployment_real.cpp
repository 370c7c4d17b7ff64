// SPDX-License-Identifier: Apache-2.0
// tests/paths/deployment_real.cpp — resources that a process still holds after further plans were
// deployed and ended.
#include <fmt/format.h>
#include <malloc.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/deployment_scene.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/resources.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;

/// Resources of this process. A context is counted by its stack, which is a mapping. OS threads are
/// counted separately.
struct Has {
  std::uint64_t descriptors = 0, threads = 0, mappings = 0, heap_bytes = 0;

  static Has now() {
    Has has;
    has.descriptors = open_descriptors();
    has.threads = entries_of("task");
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) ++has.mappings;
    has.heap_bytes = mallinfo2().uordblks;
    return has;
  }
  std::string text() const {
    return fmt::format("{} {} {} {}", descriptors, threads, mappings, heap_bytes);
  }
  static Has of(const std::string& text) {
    Has has;
    std::istringstream(text) >> has.descriptors >> has.threads >> has.mappings >> has.heap_bytes;
    return has;
  }
};

}  // namespace

TEST_CASE(
    "deployment: a hundred deployments in processes leave no descriptor or context or memory "
    "behind") {
  constexpr std::uint32_t host_count = 12, deployments = 100, first = 60;
  const char* const more = std::getenv("PATHS_WIRINGS");
  const std::uint32_t count = more == nullptr ? deployments : std::stoul(more);
  const std::string transport = GENERATE(from_range(every_transport()));
  const std::string shared = GENERATE("", "shared_memory: false\n");
  const Sim sim(
      config_of(first_hosts(host_count), network_line(transport, host_count) + shared, "60s"));
  const auto all = many_deployments(first + count, host_count, 25, "500ms");
  // The first deployments are not measured, because processes make some allocations only once.
  const auto thread_function = [&](paths::Thread& thread, const Say& say) {
    std::uint32_t worked = 0, failed = 0;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      thread.path("sum").move_value(1.0);
      if (i == first) {
        thread.sleep_for(1s);
        say("before: " + Has::now().text());
        thread.path("sum").move_value(1.0);
      }
      if (!all[i].hosts.contains(thread.rank()) || all[i].skips == thread.rank()) continue;
      ++(take_part(thread, all[i]) ? worked : failed);
    }
    thread.path("sum").move_value(1.0);
    thread.sleep_for(1s);  // peers notice closed connections within this time
    say("after: " + Has::now().text());
    thread.path("sum").move_value(1.0);
    say(fmt::format("worked: {}", worked));
    say(fmt::format("failed: {}", failed));
  };
  std::vector<HostProcess> processes;
  for (std::uint32_t host = 0; host < host_count; ++host)
    processes.emplace_back(sim, host, thread_function);
  std::uint32_t worked = 0, failed = 0;
  for (std::uint32_t host = 0; host < host_count; ++host) {
    HostProcess& process = processes[host];
    CHECK(process.end(120'000) == 0);
    INFO("h" << host << ":\n" << process.text());
    const Has before = Has::of(process.line("before: "));
    const Has after = Has::of(process.line("after: "));
    // Two more descriptors per host are permitted, because hosts that were connected for a
    // deployment keep the connections open.
    CHECK(after.descriptors <= before.descriptors + 2 * host_count);
    CHECK(after.threads <= before.threads);
    CHECK(after.mappings <= before.mappings + 160);  // the runtime allocates stacks in bulk
    // The heap may grow by some bytes per deployment, because hosts remember the labels of
    // deployments.
    CHECK(after.heap_bytes <= before.heap_bytes + count * 8192);
    worked += std::stoul(process.line("worked: "));
    failed += std::stoul(process.line("failed: "));
  }
  CHECK(worked > count);
  CHECK(failed > 0);
}
