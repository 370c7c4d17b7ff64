// SPDX-License-Identifier: Apache-2.0
// tests/groups/deaths_slow.cpp — processes killed at many moments of operations in shared memory.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "groups/group.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/machine_clock.hpp"
#include "tests/support/processes.hpp"

namespace {

using Values = std::vector<double>;
using test_support::Say;
constexpr int members = 4;

/// Runs operations of all forms until one fails. Says the number of operations that ended well, the
/// error, and when it came.
void run_until_error(paths::Thread& thread, const Say& say, std::size_t ballast_bytes) {
  const std::vector<char> ballast(ballast_bytes, 'x');
  groups::Group world(thread);
  std::vector<Values> in, out;
  for (const std::size_t count : {1, 8192, 131'072}) {
    in.emplace_back(count, 1.0);
    out.emplace_back(count);
  }
  Values blocks(members);
  std::uint64_t ended = 0;
  world.run(groups::barrier());
  say("begun");
  try {
    for (;; ++ended) {
      const std::uint64_t which = ended % 6;
      if (which < 3) world.run(groups::allreduce(in[which], out[which], "sum"));
      if (which == 3) world.run(groups::barrier());
      if (which == 4) world.run(groups::gather(std::span(in[0]), blocks, 0));
      if (which == 5)
        world.run(groups::broadcast(std::span(in[1]), static_cast<std::uint32_t>(ended / 6 % 4)));
    }
  } catch (const paths::TravelError& error) {
    const std::int64_t came = test_support::machine_nanos();
    say(fmt::format("at {}", came));
    say(fmt::format("ended {}", ended));
    say(fmt::format("told: {}", error.what()));
  }
}

struct Died {
  std::vector<double> micros;  ///< time from the kill to the error of each survivor
  int different_counts = 0;    ///< kills after which survivors had ended different numbers
};

void kill_one(std::uint32_t victim, int moment, std::size_t ballast_bytes, Died& died) {
  const test_support::Sim sim(test_support::network_line("ipc", members) + "deadline: 20s\n" +
                              fmt::format("clusters: {{a: {{hosts: {}}}}}\nlanes:\n", members));
  const std::string name = fmt::format("a-{}", victim);
  INFO(name << " killed at moment " << moment << " with " << ballast_bytes << " bytes");
  auto hosts = test_support::start_hosts(sim, [&](paths::Thread& thread, const Say& say) {
    run_until_error(thread, say, thread.rank() == victim ? ballast_bytes : 0);
  });
  for (auto& [host, process] : hosts) REQUIRE(process.says("begun"));
  test_support::pause(std::chrono::microseconds(337 * moment));
  const std::int64_t killed = test_support::machine_nanos();
  test_support::kill_host(hosts, name);
  std::vector<std::string> ended;
  test_support::each_end(
      hosts,
      [&](const std::string&, const test_support::HostProcess& host, int code) {
        CHECK(code >= 0);
        CHECK_THAT(host.line("told: "), Catch::Contains(name));
        ended.push_back(host.line("ended "));
        const std::string at = host.line("at ");
        REQUIRE_FALSE(at.empty());
        died.micros.push_back(
            static_cast<double>(std::stoll(at.substr(at.rfind(' ') + 1)) - killed) / 1e3);
      },
      15'000);  // milliseconds; less than the deadline
  CHECK(ended.size() == members - 1);
  if (std::ranges::count(ended, ended.front()) != members - 1) ++died.different_counts;
}

}  // namespace

// The environment variable PATHS_MOMENTS sets the number of moments at which each process is
// killed.
TEST_CASE("groups: a process killed at any moment is named by all others in shared memory") {
  const auto moments = static_cast<int>(test_support::from_environment("PATHS_MOMENTS", 5));
  for (const std::size_t ballast_bytes : {std::size_t{0}, std::size_t{1} << 30}) {
    Died died;
    for (std::uint32_t victim = 0; victim < members; ++victim)
      for (int moment = 0; moment < moments; ++moment)
        kill_one(victim, moment, ballast_bytes, died);
    std::ranges::sort(died.micros);
    const auto at = [&](double part) {
      return died
          .micros[static_cast<std::size_t>(part * static_cast<double>(died.micros.size() - 1))];
    };
    std::cout << fmt::format(
        "{} kills of a process with {} MiB: error after {:.0f} us (median), {:.0f} us (95%), "
        "{:.0f} us (longest); {} kills with different numbers of ended operations\n",
        members * moments, ballast_bytes >> 20, at(0.5), at(0.95), at(1), died.different_counts);
  }
}
