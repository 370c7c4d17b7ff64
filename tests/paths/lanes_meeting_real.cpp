// SPDX-License-Identifier: Apache-2.0
// tests/paths/lanes_meeting_real.cpp — processes that are connected only by lanes, not by paths. If
// a process is missing or dies, all other processes report its name before a deadline.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <random>
#include <string>

#include "paths/host/host.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/processes.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;

constexpr base::Nanos deadline = 3s;
constexpr int patience = 60'000;  // milliseconds; a process that runs longer counts as hung

std::string config_over(const std::string& transport) {
  return fmt::format("deadline: {}\n{}", base::format_time(deadline), network_line(transport, 5)) +
         R"(
clusters:
  a: {hosts: 2, threads: 1}
  b: {hosts: [b-0, b-1], threads: 1, gateway: b-gw}
links: {all: {latency: 1ms, bandwidth: 1Gbit}}
lanes: {}
)";
}

/// Runs 400 rounds of at least a millisecond. In each round, each thread waits for a message of the
/// previous thread in the ring.
void send_around(paths::Thread& thread, const Say& say) {
  say("begun");
  const paths::Plan& plan = thread.host().plan();
  std::vector<std::uint32_t> hosts;
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host)
    if (plan.hosts[host].threads > 0) hosts.push_back(host);
  const auto group = thread.host().lanes().group("ring", hosts);
  const std::size_t me = thread.rank(), count = hosts.size();
  for (std::uint64_t round = 0; round < 400; ++round) {
    thread.sleep_for(1ms);
    auto sending = group->send(hosts[(me + 1) % count], 0, base::Payload::of(round));
    if (group->receive(hosts[(me + count - 1) % count], 0).wait().payload.read<std::uint64_t>() !=
        round)
      throw std::runtime_error("another message came");
    sending.wait();
  }
  group->leave();
}

/// Checks that each host except the culprit exits with 1 and names the culprit.
void check_others(
    HostProcesses& hosts, const std::string& culprit,
    const std::function<void(const std::string& name)>& check_end = [](const std::string&) {}) {
  for (auto& [name, host] : hosts) {
    const int code = host.end(patience);
    check_end(name);
    INFO("host " << name << " where " << culprit << " is missing:\n" << host.text());
    CHECK(code == 1);
    CHECK_THAT(host.text(), Catch::Contains("host " + culprit + " is gone"));
    CHECK_THAT(host.text(), !Catch::Contains("host " + name + " is gone"));
  }
}

}  // namespace

// Does not run under the thread sanitizer, for which the time limit of this case is too short.
TEST_CASE("lanes of processes: all hosts name a missing one a deadline after their start",
          "[without_tsan]") {
  for (const std::uint32_t culprit : {0, 1, 2, 3, 4}) {
    const Sim sim(config_over(culprit % 2 == 0 ? "tcp" : "ipc"));
    const std::string missing = sim.plan().hosts[culprit].name;
    auto hosts = start_hosts(sim, send_around, {}, {}, missing);
    // All hosts have just been started, so the time is measured from here on.
    const Stopwatch clock;
    INFO("without " << missing);
    check_others(hosts, missing, [&](const std::string& name) {
      INFO("host " << name);
      CHECK(clock.now() < deadline * 2);  // no host waits for a second deadline
    });
  }
}

TEST_CASE("lanes of processes: if a host is killed at any moment no other host ends well") {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) {
    const Sim sim(config_over(seed % 2 == 0 ? "tcp" : "ipc"));
    std::mt19937_64 random(seed);
    const std::string victim = sim.plan().hosts[seed % 5].name;
    INFO("seed " << seed);
    auto hosts = start_hosts(sim, send_around);
    pause(std::chrono::milliseconds(random() % 300));
    kill_host(hosts, victim);
    check_others(hosts, victim);
  }
}

TEST_CASE("lanes of processes: no thread begins before the last host arrives") {
  const Sim sim(config_over("tcp"));
  const std::string late = "b-1";
  auto hosts = start_hosts(sim, send_around, {}, {}, late);
  for (const char* name : {"a-0", "a-1", "b-0"}) CHECK_FALSE(hosts.at(name).says("begun", 100));
  hosts.emplace(late, HostProcess(sim, *sim.plan().host_named(late), send_around));
  check_all_end_well(hosts);
}
