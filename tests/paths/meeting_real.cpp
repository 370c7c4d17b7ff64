// SPDX-License-Identifier: Apache-2.0
// tests/paths/meeting_real.cpp — hosts that start in random order. If one host is faulty, all other
// hosts end and report its name.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>
#include <random>

#include "paths/host/host.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/processes.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;

constexpr std::uint32_t hosts = 5;
constexpr int patience = 60'000;  // milliseconds; a process that runs longer counts as hung

enum class Fault : std::uint8_t { none, dies, never_started, twice, other_config, replaced };
constexpr const char* fault_names[] = {"none",          "dies within 100 ms",
                                       "never started", "started twice",
                                       "other config",  "killed and started again"};

/// A start of all hosts with a fault, chosen at random from a seed.
struct Start {
  Fault fault = Fault::none;
  std::uint32_t culprit = 0;
  std::string config, other;
  int dies_by = 0;  // signal that kills the culprit; 0 = it exits with 0
  base::Nanos dies_after{0}, replaced_after{0};
  base::Nanos begins[hosts] = {};
};

Start draw(std::uint64_t seed, Fault fault, base::Nanos deadline) {
  std::mt19937_64 random(seed);
  const auto pick = [&random](std::initializer_list<const char*> words) {
    return std::string(words.begin()[random() % words.size()]);
  };
  const auto up_to = [&random](base::Nanos span) {
    return base::Nanos(
        static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(span.count())));
  };
  Start start;
  start.fault = fault;
  start.culprit = static_cast<std::uint32_t>(random() % hosts);
  const std::string network = network_line(pick({"tcp", "ipc"}), hosts);
  const std::string connection = pick({"per_path", "shared"});
  const std::string algorithm =
      pick({"sequential", "magpie", "exact", "conditional", "'conditional:push'", "'lagged:2'"});
  const auto text = [&](base::Nanos limit) {
    return fmt::format("deadline: {}\n{}, connection: {}}}", base::format_time(limit),
                       network.substr(0, network.rfind('}')), connection) +
           fmt::format(R"(
clusters:
  alpha: {{hosts: 2, threads: 2}}
  beta: {{hosts: [b1, b2], threads: 1, gateway: beta-gate}}
links: [{{between: [alpha, beta], latency: 1ms}}]
collectives:
  sum: {{operation: sum, template: f64, algorithm: {}, condition: {{less: 1}},
        contributions: non_negative}}
exchanges: {{rows: {{template: f64}}}}
)",
                       algorithm);
  };
  start.config = text(deadline);
  start.other = text(deadline + 1ms);
  start.dies_by = random() % 2 == 0 ? SIGKILL : random() % 2 == 0 ? SIGUSR1 : 0;
  start.dies_after = up_to(100ms);
  start.replaced_after = up_to(300ms);
  for (base::Nanos& begin : start.begins) begin = up_to(80ms);
  return start;
}

/// Runs 300 rounds of at least a millisecond, so that no host finishes within 100 ms.
void work(paths::Thread& thread, const Say&) {
  const std::uint32_t rank = thread.rank();
  for (std::int64_t round = 0; round < 300; ++round) {
    thread.sleep_for(1ms);
    if (rank + 1 < thread.threads())
      thread.path(fmt::format("rows.{}.from_previous", rank + 1)).send(base::Payload::of(1.0));
    if (rank > 0) thread.path(fmt::format("rows.{}.from_previous", rank)).observe();
    thread.path("sum").move_value(0.001);
  }
}

struct Ended {
  std::string host;
  bool is_culprit = false;
  int code = 0;
  std::string text;
  bool says(const std::string& name) const { return text.find(name) != std::string::npos; }
};

/// Returns the hosts that name the culprit, directly or indirectly. A failure passes from host to
/// host. A host may therefore name the culprit's cluster, or another host that is in the returned
/// set.
std::set<std::string> those_who_say_why(const std::vector<Ended>& all, const std::string& culprit,
                                        const std::string& cluster) {
  std::set<std::string> saying;
  for (bool grows = true; grows;) {
    grows = false;
    for (const Ended& one : all) {
      bool says = one.says(culprit) || one.says(cluster);
      for (const std::string& host : saying) says = says || one.says(host);
      if (says && one.code != 0 && !one.is_culprit) grows |= saying.insert(one.host).second;
    }
  }
  return saying;
}

struct Endings {
  std::vector<Ended> ended;
  base::Nanos from_fault{0};  ///< time from the fault to the end of the last process
};

Endings carry_out(const Start& start) {
  const Sim sim(start.config), other(start.other);
  const std::string culprit = sim.plan().hosts[start.culprit].name;
  const Stopwatch clock;
  std::vector<std::pair<std::string, HostProcess>> processes;
  base::Nanos fault{0};
  std::vector<std::pair<base::Nanos, std::function<void()>>> acts;
  const auto begin = [&](std::uint32_t host, const Sim& of, const HostThread& thread) {
    return [&, host, thread] {
      processes.emplace_back(sim.plan().hosts[host].name, HostProcess(of, host, thread));
      fault = std::max(fault, clock.now());
    };
  };
  std::size_t victim = 0;
  const auto dying = [&](paths::Thread& thread, const Say& say) {
    if (thread.host().index() == start.culprit && start.dies_by == 0 && thread.index() == 0) {
      thread.deployment()
          .services()
          .spawn("death",
                 [after = start.dies_after, &runtime = thread.host().runtime()] {
                   runtime.sleep_for(after);
                   _exit(0);
                 })
          .detach();
    }
    work(thread, say);
  };
  for (std::uint32_t host = 0; host < hosts; ++host) {
    const base::Nanos when = start.begins[host];
    const bool is_culprit = host == start.culprit;
    if (is_culprit && start.fault == Fault::never_started) continue;
    const bool dies = is_culprit && (start.fault == Fault::dies || start.fault == Fault::replaced);
    acts.emplace_back(when,
                      begin(host, is_culprit && start.fault == Fault::other_config ? other : sim,
                            dies ? HostThread(dying) : HostThread(work)));
    if (is_culprit && start.fault == Fault::twice)
      acts.emplace_back(when + start.dies_after, begin(host, sim, work));
    if (!dies) continue;
    acts.emplace_back(when, [&] { victim = processes.size() - 1; });
    const bool is_gate = sim.plan().hosts[host].threads == 0;
    if (start.dies_by != 0 || is_gate)
      acts.emplace_back(when + start.dies_after, [&] {
        processes[victim].second.signal_it(start.dies_by == 0 ? SIGKILL : start.dies_by);
        fault = std::max(fault, clock.now());
      });
    if (start.fault == Fault::replaced)
      acts.emplace_back(when + 100ms + start.replaced_after, begin(host, sim, work));
  }
  std::stable_sort(acts.begin(), acts.end(),
                   [](const auto& one, const auto& two) { return one.first < two.first; });
  for (const auto& [when, act] : acts) {
    if (when > clock.now()) test_support::pause(when - clock.now());
    act();
  }
  Endings endings;
  for (auto& [name, process] : processes) {
    const int code = process.end(patience);
    endings.ended.push_back({name, name == culprit, code, process.text()});
  }
  endings.from_fault = clock.now() - fault;
  return endings;
}

}  // namespace

TEST_CASE("meeting: of hosts started in random order with one faulty all end and name it") {
  const auto starts = from_environment("PATHS_MEETING_STARTS", 8);
  const auto seed = from_environment("PATHS_MEETING_SEED", 1);
  const auto deadline =
      std::chrono::milliseconds(from_environment("PATHS_MEETING_DEADLINE_MS", 1000));
  std::cout << fmt::format("PATHS_MEETING_SEED={}, {} starts, deadline {}\n", seed, starts,
                           base::format_time(deadline));
  constexpr Fault faults[] = {Fault::dies,         Fault::never_started, Fault::twice,
                              Fault::other_config, Fault::replaced,      Fault::none};
  struct Figures {
    int starts = 0, processes = 0, naming = 0, through_others = 0, right = 0, hangs = 0;
    base::Nanos longest{0};
  };
  std::map<Fault, Figures> figures;
  for (std::uint64_t i = 0; i < starts; ++i) {
    const Fault fault = faults[i % std::size(faults)];
    const Start start = draw(seed * 1'000'003 + i, fault, deadline);
    INFO("PATHS_MEETING_SEED=" << seed << ", start " << i << ": " << fault_names[int(fault)]);
    INFO(start.config);
    const Sim sim(start.config);
    const std::string& culprit = sim.plan().hosts[start.culprit].name;
    const Endings endings = carry_out(start);
    Figures& figure = figures[fault];
    ++figure.starts;
    figure.longest = std::max(figure.longest, endings.from_fault);
    std::string all;
    for (const Ended& ended : endings.ended)
      all += fmt::format("== {} ended with {}\n{}", ended.host, ended.code, ended.text);
    INFO("culprit " << culprit << ", " << base::format_time(endings.from_fault) << "\n" << all);
    const auto saying =
        those_who_say_why(endings.ended, culprit, sim.plan().cluster_of(start.culprit));
    for (const Ended& ended : endings.ended) {
      INFO(ended.host);
      CHECK(ended.code != -1);
      figure.hangs += ended.code == -1;
      if (ended.is_culprit) continue;
      ++figure.processes;
      figure.right += ended.code == 0;
      if (fault == Fault::none || fault == Fault::twice) CHECK(ended.code == 0);
      if (ended.code == 0) continue;
      figure.naming += ended.says(culprit);
      figure.through_others += !ended.says(culprit) && saying.contains(ended.host);
      CHECK(saying.contains(ended.host));
    }
  }
  for (const auto& [fault, figure] : figures)
    std::cout << fmt::format(
        "{}: {} starts, {} other processes: {} named the culprit, {} its cluster or a host that "
        "did, {} ended right; {} hangs; last end {} ms after the fault\n",
        fault_names[int(fault)], figure.starts, figure.processes, figure.naming,
        figure.through_others, figure.right, figure.hangs, figure.longest / 1ms);
}

namespace {

std::string two_clusters(const std::string& transport, const std::string& deadline) {
  return fmt::format("deadline: {}\n{}", deadline, network_line(transport, hosts)) + R"(
clusters:
  alpha: {hosts: 2, threads: 1}
  beta: {hosts: [b1, b2], threads: 1, gateway: beta-gate}
links: [{between: [alpha, beta], latency: 1ms}]
collectives: {sum: {operation: sum, template: f64}}
)";
}

}  // namespace

TEST_CASE("meeting: a host that waits for a peer prints its address after 5 s") {
  const Sim sim(two_clusters("tcp", "6s"));
  HostProcess waiting(
      sim, 0, [](paths::Thread& thread, const Say&) { thread.path("sum").move_value(1.0); });
  CHECK(waiting.end(patience) == 1);
  CHECK_THAT(
      waiting.text(),
      Catch::Contains(
          "host alpha-0 has waited 5s for host alpha-1 to connect, and stops waiting after 6s (" +
          sim.plan().hosts[1].address) &&
          Catch::Contains("host beta-gate is gone: it did not connect within 6s"));
}

TEST_CASE("meeting: a connected peer that gives no sign of life is lost at the end") {
  const std::string transport = GENERATE("tcp", "ipc");
  const Sim sim(two_clusters(transport, "1s"));
  constexpr std::uint32_t stopped = 3;
  auto processes = start_hosts(sim, [](paths::Thread& thread, const Say& say) {
    thread.path("sum").move_value(1.0);
    say("reduced");
    // The thread of the stopped host sleeps, so that its path is not released.
    if (thread.host().index() == stopped) thread.sleep_for(60s);
  });
  HostProcess& victim = processes.at(sim.plan().hosts[stopped].name);
  REQUIRE(victim.says("reduced"));
  victim.signal_it(SIGSTOP);
  for (auto& [name, process] : processes) {
    if (&process == &victim) continue;
    // 14,000 ms is less than the heartbeats of ZeroMQ need to notice the stopped process.
    const int code = process.end(14'000);
    INFO(name << ": " << process.text());
    CHECK(code != -1);
    if (name == "b1") CHECK_THAT(process.text(), Catch::Contains("host b2 is gone: frozen: "));
  }
}
