// SPDX-License-Identifier: Apache-2.0
// tests/paths/switch_real.cpp — links of lanes on the steady clock, including emulated switches as
// processes.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "paths/host/host.hpp"
#include "paths/run/run_switch.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/processes.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;
using base::Nanos;
using base::Payload;
using paths::TravelError;
using runtime::ClockKind;

constexpr int places = 6;  // four hosts and two switches

std::string config(const std::string& transport, const std::string& more = "") {
  return network_line(transport, places) + more + R"(
clusters:
  alpha: {hosts: 2, uplink: switch, network: {latency: 100us, bandwidth: 200Mbit, receiving: true}}
  beta: {hosts: 2, uplink: switch, network: {latency: 100us, bandwidth: 200Mbit, receiving: true}}
links: {all: {latency: 5ms, bandwidth: 200Mbit}}
lanes:
)";
}

Payload pattern(std::size_t bytes, std::uint32_t seed) {
  return Payload::filled(bytes, [&](std::span<std::byte> place) {
    for (std::size_t i = 0; i < place.size(); ++i)
      place[i] = static_cast<std::byte>(seed * 131 + i * i / 7);
  });
}

std::unique_ptr<paths::MessageGroup> group_of_all(paths::Thread& thread, const std::string& name) {
  std::vector<std::uint32_t> hosts;
  for (std::uint32_t host = 0; host < thread.host().plan().hosts.size(); ++host)
    hosts.push_back(host);
  return thread.host().lanes().group(name, hosts);
}

/// Sends a distinct message of `bytes` bytes to each other host of the group, and receives the
/// messages of these hosts.
void exchange(paths::Thread& thread, paths::MessageGroup& group, std::size_t bytes) {
  const std::uint32_t self = thread.host().index();
  std::vector<runtime::Handle<void>> sent;
  for (const std::uint32_t peer : group.hosts())
    if (peer != self) sent.push_back(group.send(peer, 0, pattern(bytes, self * 16 + peer)));
  for (const std::uint32_t peer : group.hosts())
    if (peer != self &&
        !(group.receive(peer, 0).wait().payload == pattern(bytes, peer * 16 + self)))
      throw std::runtime_error("other bytes");
  for (auto& one : sent) one.wait();
}

HostProcess switch_of(const Sim& sim, std::uint32_t cluster) {
  return HostProcess([&](const Say& say) {
    try {
      paths::run_switch(sim.shared_plan(), cluster, run_key().get());
      return 0;
    } catch (const std::exception& error) {
      say(std::string("broke: ") + error.what());
      return 2;
    }
  });
}

HostProcesses start_all(const Sim& sim, const HostThread& thread) {
  auto processes = start_hosts(sim, thread);
  for (const std::uint32_t cluster : {0, 1})
    processes.emplace("switch " + sim.plan().clusters[cluster], switch_of(sim, cluster));
  return processes;
}

}  // namespace

TEST_CASE("switch of processes: every host reaches every other and then all end") {
  const std::string transport = GENERATE("tcp", "ipc", "tcp without shared memory");
  const bool is_over_sockets = transport.find("without") != std::string::npos;
  const Sim sim(config(transport.substr(0, 3), is_over_sockets ? "shared_memory: false\n" : ""));
  auto processes = start_all(sim, [](paths::Thread& thread, const Say& say) {
    const auto group = group_of_all(thread, "all");
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{100}, std::size_t{300'000}})
      exchange(thread, *group, bytes);
    group->leave();
    say("all came");
  });
  check_all_end_well(processes);
  for (auto& [name, process] : processes)
    CHECK(process.lines("all came").size() == (name.starts_with("switch") ? 0 : 1));
}

TEST_CASE("switch of processes: the same holds without the key lanes and without messages") {
  std::string text = config("ipc");
  text.erase(text.find("lanes:"));
  const bool sends = GENERATE(true, false);
  const Sim sim(text);
  auto processes = start_all(sim, [&](paths::Thread& thread, const Say&) {
    if (!sends) return;
    const auto group = group_of_all(thread, "all");
    exchange(thread, *group, 100'000);
    group->leave();
  });
  check_all_end_well(processes);
}

TEST_CASE("switch of processes: a killed switch fails only the lanes that pass it") {
  const Sim sim(config(GENERATE("tcp", "ipc")));
  auto processes = start_all(sim, [](paths::Thread& thread, const Say& say) {
    const auto group = group_of_all(thread, "all");
    exchange(thread, *group, 1000);
    say("is at work");
    const std::uint32_t self = thread.host().index();
    for (const std::uint32_t peer : {0, 1, 2, 3}) {
      if ((peer < 2) == (self < 2)) continue;
      try {
        group->receive(peer, 1).wait();
      } catch (const TravelError& error) {
        say(std::string("told: ") + error.what());
      }
    }
    const std::uint32_t near = self ^ 1;
    group->send(near, 2, Payload::of(self));
    if (group->receive(near, 2).wait().payload.read<std::uint32_t>() == near) say("goes on");
    try {
      group->leave();
    } catch (const TravelError&) {  // thrown for messages to hosts behind the killed switch
    }
  });
  for (auto& [name, process] : processes)
    if (!name.starts_with("switch")) REQUIRE(process.says("is at work"));
  kill_host(processes, "switch alpha");
  each_end(processes, [](const std::string& name, const HostProcess& process, int code) {
    CHECK(code == 0);
    if (name == "switch beta") return;
    const auto told = process.lines("told: ");
    REQUIRE(told.size() == 2);
    for (const std::string& one : told)
      CHECK_THAT(one, Catch::Contains("the switch of alpha is gone"));
    CHECK(process.lines("goes on").size() == 1);
  });
}

TEST_CASE("switch of processes: a killed host is known beyond the switches") {
  const Sim sim(config("ipc"));
  auto processes = start_all(sim, [](paths::Thread& thread, const Say& say) {
    const auto group = group_of_all(thread, "all");
    exchange(thread, *group, 1000);
    say("is at work");
    const std::uint32_t self = thread.host().index();
    try {
      group->receive(self == 1 ? 0 : 1, 1).wait();
    } catch (const TravelError& error) {
      say(std::string("told: ") + error.what());
    }
    // All hosts except the lost hosts still exchange messages.
    for (const std::uint32_t peer : {0, 2, 3})
      if (peer != self) group->send(peer, 2, Payload::of(self));
    for (const std::uint32_t peer : {0, 2, 3})
      if (peer != self && group->receive(peer, 2).wait().payload.read<std::uint32_t>() == peer)
        say("goes on");
    group->leave();
  });
  for (auto& [name, process] : processes)
    if (!name.starts_with("switch")) REQUIRE(process.says("is at work"));
  kill_host(processes, "alpha-1");
  each_end(processes, [](const std::string& name, const HostProcess& process, int code) {
    CHECK(code == 0);
    if (name.starts_with("switch")) return;
    CHECK_THAT(process.line("told: "), Catch::Contains("host alpha-1 is gone"));
    CHECK(process.lines("goes on").size() == 2);
  });
}

TEST_CASE("switch of processes: if any process is killed at any time all others end",
          "[without_tsan]") {
  const std::string victim = GENERATE("alpha-0", "beta-1", "switch alpha", "switch beta");
  const int after = GENERATE(0, 20);  // milliseconds until the kill, approximately
  INFO(victim << " after " << after << " ms");
  const Sim sim("deadline: 3s\n" + config("ipc"));
  auto processes = start_all(sim, [](paths::Thread& thread, const Say&) {
    const auto group = group_of_all(thread, "all");
    for (;;) exchange(thread, *group, 20'000);
  });
  test_support::pause(std::chrono::milliseconds(after));
  kill_host(processes, victim);
  each_end(processes, [](const std::string& name, const HostProcess&, int code) {
    CHECK(code == (name.starts_with("switch") ? 0 : 1));
  });
}

TEST_CASE("switch of processes: a switch that was never started is named at the deadline") {
  const Sim sim(config("tcp", "deadline: 500ms"));
  auto processes = start_hosts(sim, [](paths::Thread& thread, const Say&) {
    exchange(thread, *group_of_all(thread, "all"), 10);
  });
  each_end(processes, [](const std::string&, const HostProcess& process, int code) {
    CHECK(code == 1);
    CHECK_THAT(process.text(), Catch::Contains("the switch of "));
  });
}

TEST_CASE("switch of processes: a silent switch that was never started is not called frozen") {
  std::string text = config(GENERATE("tcp", "ipc"), "deadline: 3s");
  text.insert(text.find('}'), ", liveness: {beat: 100ms, silent: 1s}");
  const Sim sim(text);
  auto processes = start_hosts(sim, [](paths::Thread& thread, const Say&) {
    exchange(thread, *group_of_all(thread, "all"), 10);
  });
  each_end(processes, [](const std::string&, const HostProcess& process, int code) {
    CHECK(code == 1);
    CHECK_THAT(process.text(), Catch::Contains("gone: it gave no sign of life for "));
    CHECK_THAT(process.text(), !Catch::Contains("frozen"));
  });
}

TEST_CASE("switch of processes: a switch without links to emulate is refused") {
  const Sim sim(
      "clusters: {alpha: {hosts: 1, uplink: switch}, beta: {hosts: 1}}\n"
      "links: {all: {latency: 0s}}\nlanes:\n");
  for (const std::uint32_t cluster : {0, 1})
    CHECK_THROWS_WITH(paths::run_switch(sim.shared_plan(), cluster),
                      Catch::Contains("has no switch with links to emulate"));
}

// ---- lower bounds of the model ------------------------------------------------------------------

namespace {

/// Messages of equal size between some hosts, all sent at the same time.
struct Traffic {
  std::string name, config;
  std::vector<std::pair<std::string, std::string>> pairs;
  std::size_t bytes = 0;
  /// Lower bound of the time, computed from rates and latencies only.
  double milliseconds_at_least = 0;
};

Nanos took(const Traffic& traffic, ClockKind clock) {
  const Sim sim(traffic.config);
  const SimResult result = sim.run_well(
      [&](paths::Thread& thread) {
        const std::string& self = thread.host().name();
        const auto number = [&](const std::string& name) {
          return *thread.host().plan().host_named(name);
        };
        const auto group = group_of_all(thread, "all");
        thread.sleep_for(100ms - thread.now());
        for (const auto& [from, to] : traffic.pairs)
          if (self == from)
            group->send(number(to), number(from), pattern(traffic.bytes, number(from)));
        for (const auto& [from, to] : traffic.pairs)
          if (self == to && group->receive(number(from), number(from)).wait().payload !=
                                pattern(traffic.bytes, number(from)))
            // The run reports this error among its failures.
            throw std::runtime_error("the message was changed on its way");
        group->leave();
      },
      clock);
  return result.end - 100ms;
}

const std::vector<Traffic>& all_traffic() {
  static const std::string two = R"(
clusters:
  a: {hosts: 3, network: {latency: 100us, bandwidth: 400Mbit}, uplink: switch}
  b: {hosts: 3, network: {latency: 100us, bandwidth: 400Mbit}, uplink: switch}
)";
  static const std::vector<std::pair<std::string, std::string>> opposite = {
      {"a-0", "b-0"}, {"a-1", "b-1"}, {"a-2", "b-2"}};
  static const std::vector<Traffic> all = {
      // Three messages of 1 Mbit cross one queue of 50 Mbit/s in 60 ms.
      {"a link's queue", two + "links: {all: {latency: 5ms, bandwidth: 50Mbit}}\nlanes:\n",
       opposite, 125'000, 65.1},
      // The link has two streams of 40 Mbit/s each. The 3 Mbit of three messages take 37.5 ms.
      {"streams", two + "links: {all: {latency: 5ms, stream_rate: 40Mbit, streams: 2}}\nlanes:\n",
       opposite, 125'000, 42.5},
      // Each pair of hosts sends 62.5 kB per round trip of 10 ms, which is 50 Mbit/s. 1 Mbit takes
      // 20 ms.
      {"a window", two + "links: {all: {latency: 5ms, window: 62500B, streams: 8}}\nlanes:\n",
       opposite, 125'000, 25.1},
      // The pair of hosts has two streams of 20 Mbit/s each. 1 Mbit takes 25 ms.
      {"striping",
       two + "links: {all: {latency: 5ms, stream_rate: 20Mbit, streams: 8}}\n"
             "lanes: {striping: 2, frame: 8KiB}\n",
       {{"a-0", "b-0"}},
       125'000,
       30.1},
      // Four messages of 1 Mbit arrive at a host that receives 100 Mbit/s. They take 40 ms.
      {"a host that receives",
       "clusters: {a: {hosts: 5, network: {latency: 100us, bandwidth: 100Mbit, receiving: true}}}\n"
       "lanes:\n",
       {{"a-0", "a-4"}, {"a-1", "a-4"}, {"a-2", "a-4"}, {"a-3", "a-4"}},
       125'000,
       40.1},
      // The 2 Mbit of both senders pass a gateway that sends 40 Mbit/s to the hosts of b. They take
      // 50 ms.
      {"a gateway's rate",
       "clusters:\n"
       "  a: {hosts: 2, network: {latency: 100us, bandwidth: 400Mbit}}\n"
       "  b: {hosts: 2, gateway: {host: gate, rate: 40Mbit},\n"
       "      network: {latency: 100us, bandwidth: 400Mbit}}\n"
       "links: {all: {latency: 5ms, bandwidth: 400Mbit}}\nlanes:\n",
       {{"a-0", "b-0"}, {"a-1", "b-1"}},
       125'000,
       55.1}};
  return all;
}

}  // namespace

TEST_CASE("links on the steady clock: nothing arrives earlier than on the virtual clock") {
  for (const Traffic& traffic : all_traffic()) {
    INFO(traffic.name);
    const double virtually = static_cast<double>(took(traffic, ClockKind::virtual_time).count());
    const double really = static_cast<double>(took(traffic, ClockKind::steady).count());
    CHECK(virtually >= traffic.milliseconds_at_least * 1e6);
    CHECK(virtually < traffic.milliseconds_at_least * 1.2e6);
    CHECK(really >= traffic.milliseconds_at_least * 1e6);
  }
}

TEST_CASE("links of processes: a round trip takes no less than on the virtual clock") {
  const std::string streams = "links: {all: {latency: 5ms, stream_rate: 40Mbit, streams: 2}}\n";
  const std::string queue = "links: {all: {latency: 5ms, bandwidth: 40Mbit}}\n";
  const std::string links = GENERATE_COPY(streams, queue);
  const auto round_trip = [](paths::Thread& thread) {
    const std::uint32_t self = thread.host().index();
    const auto group = thread.host().lanes().group("one", {1, 2});
    const std::uint32_t peer = 3 - self;
    group->send(peer, 0, {});  // exchanges an empty message, so that credit has arrived
    group->receive(peer, 0).wait();
    const Nanos begun = thread.now();
    if (self == 1) group->send(2, 0, pattern(250'000, 3));
    if (self == 2 && group->receive(1, 0).wait().payload == pattern(250'000, 3))
      group->send(1, 0, Payload::of(1)).wait();
    if (self == 1) group->receive(2, 0).wait();
    const Nanos took = thread.now() - begun;
    group->leave();
    return took;
  };
  const Sim sim(network_line("ipc", places) + R"(
clusters:
  alpha: {hosts: 2, threads: 1, uplink: switch, network: {latency: 100us, receiving: true,
          bandwidth: 200Mbit}}
  beta: {hosts: 2, threads: 1, uplink: switch, network: {latency: 100us, receiving: true,
         bandwidth: 200Mbit}}
)" + links + "lanes:\n");
  Nanos virtually{0};
  const SimResult result = sim.run([&](paths::Thread& thread) {
    if (thread.host().index() == 1) virtually = round_trip(thread);
    if (thread.host().index() == 2) round_trip(thread);
  });
  CHECK(result.broke == "");
  constexpr Nanos least = 50ms + 2 * (5ms + 100us);  // 2 Mbit in one direction, and the reply
  CHECK(virtually >= least);
  CHECK(virtually < least * 5 / 4);
  auto processes = start_all(sim, [&](paths::Thread& thread, const Say& say) {
    const std::uint32_t self = thread.host().index();
    if (self != 1 && self != 2) return;
    const Nanos took = round_trip(thread);
    if (self == 1) say(fmt::format("took {}", took.count()));
  });
  check_all_end_well(processes);
  const auto said = processes.at("alpha-1").lines("took ");
  REQUIRE(said.size() == 1);
  CHECK(Nanos(std::stoll(said.front())) >= least);
}

#if PATHS_HAS_BENCH
TEST_CASE(
    "switch of processes: paths run starts them and names a killed one and leaves no process") {
  const std::string transport = GENERATE("tcp", "ipc");
  const bool is_killed = GENERATE(false, true);
  const Folder folder;
  const std::string file = folder.write(fmt::format("switch-{}.yaml", getpid()), config(transport));
  HostProcess run =
      start_command(fmt::format("{}/paths run {} -- lane_traffic --messages {} --bytes 65536",
                                PATHS_BUILD_BIN_DIR, file, is_killed ? 100'000 : 200));
  if (is_killed) {
    const Stopwatch clock;
    while (processes_of(file).size() < places && clock.now() < 10s) pause(50ms);
    const auto all = processes_of(file);
    REQUIRE(all.size() == places);
    pause(500ms);
    kill(all.at("the switch of beta"), SIGKILL);
  }
  const int code = run.end();
  INFO(run.text());
  CHECK(code == (is_killed ? 1 : 0));
  if (is_killed)
    CHECK_THAT(run.text(), Catch::Contains("paths run: the switch of beta was killed by signal 9 "
                                           "(Killed); the others were stopped"));
  CHECK(processes_of(file).empty());
}
#endif
