// SPDX-License-Identifier: Apache-2.0
// tests/paths/peer_real.cpp — dead hosts and hosts with another config, as processes.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "paths/host/host.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/processes.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;

constexpr int hosts = 5;

std::string config(const std::string& transport, const std::string& algorithm,
                   const std::string& more = "") {
  return network_line(transport, hosts) + fmt::format(R"(
{}
clusters:
  alpha: {{hosts: 2, threads: 2}}
  beta: {{hosts: [b1, b2], threads: 2, gateway: beta-gate}}
links: [{{between: [alpha, beta], latency: 1ms}}]
collectives:
  sum: {{operation: sum, template: f64, algorithm: {}, condition: {{greater: 1000}},
        contributions: non_negative}}
)",
                                                      more, algorithm);
}

/// Runs rounds until an error ends the thread. The host process prints the error when it ends.
void go_on(paths::Thread& thread, const Say& say) {
  for (int round = 0;; ++round) {
    thread.path("sum").move_value(1.0);
    if (round == 20) say("is at work");
    thread.sleep_for(1ms);
  }
}

}  // namespace

TEST_CASE("peer: a killed host is named in the error of every thread within seconds") {
  const std::string transport = GENERATE("tcp", "ipc");
  const std::string algorithm = GENERATE("sequential", "magpie", "conditional");
  const std::string victim = GENERATE("alpha-0", "alpha-1", "b1", "b2", "beta-gate");
  INFO(transport << ", " << algorithm << ", " << victim);
  const Sim sim(config(transport, algorithm));
  auto processes = start_hosts(sim, go_on);
  for (auto& [name, process] : processes) {
    if (name == "beta-gate") continue;
    const bool is_at_work = process.says("is at work");
    INFO(name << ": " << process.text());
    REQUIRE(is_at_work);
  }
  kill_host(processes, victim);
  check_loss(processes, victim,
             [](const std::string& name) { return name == "beta-gate" ? 1 : 2; });
}

TEST_CASE("peer: with lanes the hosts that lost a peer also end within seconds") {
  const std::string transport = GENERATE("tcp", "ipc");
  const std::string victim = GENERATE("alpha-0", "alpha-1", "b2", "beta-gate");
  INFO(transport << ", " << victim);
  const Sim sim(config(transport, "sequential", "lanes: {}"));
  auto processes = start_hosts(sim, go_on);
  for (auto& [name, process] : processes)
    if (name != "beta-gate") REQUIRE(process.says("is at work"));
  kill_host(processes, victim);
  const auto check = [](const std::string&, const HostProcess&, int code) { CHECK(code == 1); };
  each_end(processes, check, soon);
}

TEST_CASE("peer: a stopped host is lost at the end to hosts with lanes only") {
  const bool shared_memory = GENERATE(true, false);
  const Sim sim(network_line("ipc", 3) +
                fmt::format("shared_memory: {}\ndeadline: 5s\nclusters: {{a: {{hosts: 3}}}}\n"
                            "lanes: {{}}\n",
                            shared_memory));
  auto processes = start_hosts(sim, [](paths::Thread& thread, const Say& say) {
    const auto lane = thread.host().lanes().group("lane", {0, 1, 2});
    for (std::uint32_t peer = 0; peer < 3; ++peer)
      if (peer != thread.rank()) lane->send(peer, 0, base::Payload::of(1.0));
    for (std::uint32_t peer = 0; peer < 3; ++peer)
      if (peer != thread.rank()) lane->receive(peer, 0).wait();
    say("is at work");
    thread.sleep_for(thread.rank() == 1 ? 20s : 500ms);
  });
  for (auto& [name, process] : processes) REQUIRE(process.says("is at work"));
  kill(processes.at("a-1").pid(), SIGSTOP);
  // Sum of the exit codes of both hosts. The host that first notices the loss of a-1 informs the
  // other host. The test therefore requires only that at least one of the two hosts fails.
  int failed = 0;
  std::string said;
  for (const char* name : {"a-0", "a-2"}) {
    const int code = processes.at(name).end(4 * soon);
    REQUIRE(code >= 0);  // the process ended in time
    failed += code;
    said += processes.at(name).text();
  }
  CHECK(failed >= 1);
  CHECK_THAT(said, Catch::Contains("host a-1 is gone: "));
}

TEST_CASE("peer: a refused host names its config and the log of the other host names both") {
  const std::string transport = GENERATE("tcp", "ipc");
  const std::string network = network_line(transport, hosts);
  const auto text = [&](const std::string& deadline) {
    const std::string whole = config(transport, "sequential", "deadline: " + deadline);
    return network + whole.substr(whole.find('\n') + 1);
  };
  const Sim ours(text("20s")), theirs(text("21s"));
  const auto once = [](paths::Thread& thread, const Say&) { thread.path("sum").move_value(1.0); };
  HostProcess root(ours, 0, once);
  HostProcess other(theirs, 1, once);
  CHECK(other.end(soon) == 1);
  const std::string mine = theirs.plan().digest.text();
  root.says("nothing more", 500);
  CHECK_THAT(root.text(),
             Catch::Contains(fmt::format("refused: host alpha-1 runs config {}, host alpha-0 "
                                         "config {}",
                                         mine, ours.plan().digest.text())));
  INFO(other.text());
  const auto failures = other.lines("failed: ");
  REQUIRE(failures.size() == 2);
  for (const std::string& failure : failures)
    CHECK_THAT(failure,
               Catch::Contains(fmt::format("host alpha-0 refused: plan; this host has config {}; "
                                           "the log of alpha-0 has the other",
                                           mine)));
}

TEST_CASE("peer: an address in use is an error with a hint") {
  const Sim sim(config("tcp", "sequential"));
  const auto idle = [](paths::Thread& thread, const Say& say) {
    say("is at work");
    thread.sleep_for(20s);
  };
  HostProcess first(sim, 0, idle);
  REQUIRE(first.says("is at work"));
  HostProcess second(sim, 0, idle);
  CHECK(second.end(soon) == 2);
  CHECK_THAT(second.text(), Catch::Contains("alpha-0") && Catch::Contains("in use") &&
                                Catch::Contains("--port") && Catch::Contains("--transport ipc"));
}

TEST_CASE("peer: a host that never starts fails every thread at the deadline and is named") {
  const std::string algorithm = GENERATE("sequential", "magpie", "conditional");
  const std::string absent = GENERATE("alpha-0", "alpha-1", "b1", "b2", "beta-gate");
  INFO(algorithm << " without " << absent);
  const Sim sim(config("tcp", algorithm, "deadline: 300ms"));
  auto processes = start_hosts(sim, go_on, {}, {}, absent);
  std::string all;
  each_end(processes, [&](const std::string& name, const HostProcess& process, int code) {
    CHECK(code == 1);
    CHECK(process.lines("failed: thread ").size() == (name == "beta-gate" ? 0 : 2));
    all += process.text();
  });
  CHECK_THAT(all, Catch::Contains(absent));
}

#if PATHS_HAS_BENCH
TEST_CASE("peer: paths run stops all hosts if one is killed and names it and leaves no sockets") {
  const std::string transport = GENERATE("tcp", "ipc");
  const Folder folder;
  const std::string file = folder.write("hosts.yaml", config("tcp", "magpie"));
  const std::string sockets = folder.file("sockets");
  std::filesystem::create_directory(sockets);
  std::filesystem::permissions(sockets, std::filesystem::perms::owner_all);
  HostProcess run = start_command(fmt::format(
      "env XDG_RUNTIME_DIR={} {}/paths run {} --transport {} -- noise_allreduce --iterations "
      "1000000 --compute sleep --compute-time 1ms",
      sockets, PATHS_BUILD_BIN_DIR, file, transport));
  const Stopwatch clock;
  while (!processes_of(file).contains("b2") && clock.now() < 10s) pause(50ms);
  REQUIRE(processes_of(file).contains("b2"));
  pause(1s);
  // Hosts have doors in this folder also if the transport is TCP.
  CHECK_FALSE(std::filesystem::is_empty(sockets));
  kill(processes_of(file).at("b2"), SIGKILL);
  const base::Nanos killed = clock.now();
  const int code = run.end();
  INFO(run.text());
  CHECK(clock.now() - killed < 5s);
  CHECK(code == 1);
  CHECK_THAT(run.text(), Catch::Contains("b2"));
  CHECK_FALSE(processes_of(file).contains("alpha-0"));
  CHECK_FALSE(processes_of(file).contains("beta-gate"));
  CHECK(std::filesystem::is_empty(sockets));
}
#endif
