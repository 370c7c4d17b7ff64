// SPDX-License-Identifier: Apache-2.0
// tests/paths/run_real.cpp — runs with a process for each host, over real sockets.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "paths/host/host.hpp"
#include "tests/support/processes.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;

constexpr int hosts = 5;

std::string config(const std::string& transport, const std::string& algorithm) {
  return network_line(transport, hosts) + fmt::format(R"(
clusters:
  alpha: {{hosts: 2, threads: 2}}
  beta: {{hosts: [b1, b2], threads: 1, gateway: beta-gate}}
links: [{{between: [alpha, beta], latency: 1ms}}]
collectives:
  sum: {{operation: sum, template: f64, algorithm: {}, condition: {{greater: 1000}},
        contributions: non_negative}}
elements: {{work: {{host: alpha-0, template: f64, keep_newest: 0, reach: all}}}}
)",
                                                      algorithm);
}

}  // namespace

TEST_CASE("run of processes: values match those of the virtual clock over tcp and ipc") {
  const std::string transport = GENERATE(from_range(every_transport()));
  const std::string algorithm = GENERATE("sequential", "magpie", "conditional");
  INFO(transport << ", " << algorithm);
  const Sim sim(config(transport, algorithm));
  auto processes = start_hosts(sim, [](paths::Thread& thread, const Say& say) {
    double sum = 0;
    for (int i = 0; i < 30; ++i)
      sum += thread.path("sum").move_value(0.25 * thread.rank() + i).partial<double>();
    say(fmt::format("sum {}", sum));
  });
  each_end(processes, [](const std::string& name, const HostProcess& process, int code) {
    CHECK(code == 0);
    // In round i, the 6 threads sum to 6 i + 0.25 * (0 + 1 + ... + 5). 30 rounds: 6 * 435 + 30 *
    // 3.75.
    for (const std::string& sum : process.lines("sum ")) CHECK(sum == "2722.5");
    CHECK(process.lines("sum ").size() == (name == "beta-gate" ? 0 : name[0] == 'b' ? 1 : 2));
  });
}

TEST_CASE("run of processes: a moved mebibyte crosses once and is returned unchanged") {
  const std::string transport = GENERATE(from_range(every_transport()));
  const Sim sim(network_line(transport, 2) + R"(
clusters: {alpha: {hosts: 1, threads: 0}, beta: {hosts: 1, threads: 1}}
links: [{between: [alpha, beta], latency: 1ms}]
elements: {work: {host: alpha-0, template: "u8[1048576]", reach: all}}
)");
  const auto work = [](paths::Thread& thread, const Say& say) {
    const auto tuple = base::Payload::filled(1 << 20, [](std::span<std::byte> bytes) {
      for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * i);
    });
    if (thread.path("work").move(tuple).payload == tuple) say("it came back");
  };
  auto processes = start_hosts(sim, work, [](const paths::RunSummary& run, const Say& say) {
    for (const paths::Host* host : run.hosts)
      say(fmt::format("sent {}", host->deployment().traffic().to_other_clusters("work").bytes));
  });
  each_end(processes, [](const std::string& name, const HostProcess& process, int code) {
    CHECK(code == 0);
    const bool is_beta = name == "beta-0";
    CHECK(process.lines("sent ") == std::vector<std::string>{is_beta ? "1048576" : "0"});
    CHECK(process.lines("it came back").size() == (is_beta ? 1 : 0));
  });
}

TEST_CASE("run of processes: a push costs one frame over the link") {
  const std::string transport = GENERATE(from_range(every_transport()));
  const Sim sim(config(transport, "sequential"));
  constexpr int pushes = 100;
  const auto work = [](paths::Thread& thread, const Say& say) {
    paths::Path& path = thread.path("work");
    if (thread.host().name() == "b2")
      for (int i = 0; i < pushes; ++i) path.push(base::Payload::of(1.0 * i));
    if (thread.rank() != 0) return;
    for (int i = 0; i < pushes; ++i)
      if (path.observe().payload.read<double>() != 1.0 * i) say("wrong");
    say("all came");
  };
  auto processes = start_hosts(sim, work, [](const paths::RunSummary& run, const Say& say) {
    for (const paths::Host* host : run.hosts) {
      const paths::Traffic wan = host->deployment().traffic().to_other_clusters("work"),
                           all = host->deployment().traffic().all("work");
      say(fmt::format("sent {} {} {}", wan.messages, wan.bytes, all.messages));
    }
  });
  const std::map<std::string, std::string> expected = {{"alpha-0", "0 0 0"},
                                                       {"alpha-1", "0 0 0"},
                                                       {"b1", "0 0 0"},
                                                       {"b2", "0 0 100"},
                                                       {"beta-gate", "100 800 100"}};
  each_end(processes, [&](const std::string& name, const HostProcess& process, int code) {
    CHECK(code == 0);
    CHECK(process.lines("sent ") == std::vector<std::string>{expected.at(name)});
    CHECK(process.lines("wrong").empty());
    CHECK(process.lines("all came").size() == (name == "alpha-0" ? 1 : 0));
  });
}

TEST_CASE("run of processes: hosts may start in any order and long after each other") {
  const Sim sim(config("tcp", "sequential"));
  std::map<std::string, HostProcess> processes;
  const auto work = [](paths::Thread& thread, const Say& say) {
    say(fmt::format("{}", thread.path("sum").move_value(1.0).payload.read<double>()));
  };
  for (std::uint32_t host = hosts; host-- > 0;) {
    processes.emplace(sim.plan().hosts[host].name, HostProcess(sim, host, work));
    test_support::pause(150ms);
  }
  check_all_end_well(processes);
}

TEST_CASE("run of processes: a gateway serves longer than the deadline") {
  const Sim sim("deadline: 1s\n" + config("tcp", "sequential"));
  auto processes = start_hosts(sim, [](paths::Thread& thread, const Say&) {
    thread.sleep_for(2500ms);
    thread.path("sum").move_value(1.0);
  });
  check_all_end_well(processes);
}
