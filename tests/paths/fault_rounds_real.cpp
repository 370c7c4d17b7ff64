// SPDX-License-Identifier: Apache-2.0
// tests/paths/fault_rounds_real.cpp — rounds of random faults. Each round runs a program as
// processes, one of which is killed, ended, frozen or cut off, or may open too few descriptors.
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "paths/wire/socket_folder.hpp"
#include "paths/wire/transport.hpp"
#include "runtime/random.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/far_network.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

#if PATHS_HAS_BENCH
namespace {

using namespace test_support;
using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;

constexpr base::Nanos silent = 1s;
/// Longest time from a fault to the end of a survivor.
constexpr base::Nanos end_longest = silent + 1s;
/// Tolerance: a survivor may end this much later than `end_longest`, because a loaded machine
/// delays processes.
constexpr base::Nanos slack = 4s;
/// Deadline in rounds with an early fault. If no host has connected with the victim, all hosts end
/// only at this deadline.
constexpr base::Nanos early_deadline = 6s;

/// Hosts of the plan, in its order. Their ports are consecutive.
const std::vector<std::string> host_names = {"alpha-0", "alpha-1",   "b1",
                                             "b2",      "beta-gate", "gamma-0"};

enum class Fault : std::uint8_t { kill, freeze, terminate, few_descriptors, cut };
constexpr const char* fault_words[] = {"kill", "freeze", "terminate", "few descriptors", "cut"};

/// One random round.
struct Round {
  std::string program;        ///< words of the program's command line
  std::string short_program;  ///< the same program with one iteration
  std::string algorithm;      ///< "" = the program makes its own group
  std::string victim;
  std::string transport;
  bool has_memory = false;
  bool has_gateway = false;  ///< beta-gate is a gateway without threads
  bool is_early = false;     ///< the fault is in the first 300 ms after the start
  base::Nanos moment{0};     ///< time from the start of the processes to the fault
  int descriptors = 1024;    ///< maximum number of descriptors of the victim
  Fault fault = Fault::kill;

  std::string text() const {
    return fmt::format("{} of {} {:.0f} ms after {}, {}{}, {}{}{}", fault_words[int(fault)], victim,
                       Seconds(moment).count() * 1e3, is_early ? "the start" : "a start",
                       program.substr(0, program.find(' ')),
                       algorithm.empty() ? "" : " " + algorithm, transport,
                       has_memory ? " with shared memory" : "", has_gateway ? ", gateway" : "");
  }
};

Round draw(runtime::Random& random, bool can_cut) {
  constexpr const char* programs[] = {
      "noise_allreduce --compute sleep --compute-time 1ms --values worst --iterations ",
      "sor --size 400 --omega 0.01 --iterations ", "collective allreduce -m 64KiB -i "};
  const std::vector<std::string> algorithms = {"sequential",  "magpie",   "exact",
                                               "conditional", "lagged:3", "conditional:demand"};
  Round round;
  const std::uint64_t program = random.below(4);
  const std::string words = programs[program == 0 ? 0 : program - 1];
  round.program = words + "1000000";
  round.short_program = words + "1";
  if (program < 2) round.algorithm = algorithms[random.below(algorithms.size())];
  if (program == 2) round.algorithm = random.chance(0.5) ? "magpie" : "conditional";
  round.victim = host_names[random.below(host_names.size())];
  round.transport = random.chance(0.5) ? "tcp" : "ipc";
  round.has_memory = random.chance(0.5);
  round.has_gateway = random.chance(0.5);
  round.is_early = random.below(3) == 0;
  round.moment = std::chrono::milliseconds(round.is_early ? random.below(300) : random.below(700));
  round.fault = static_cast<Fault>(random.below(can_cut ? 5 : 4));
  if (round.fault == Fault::few_descriptors) {
    round.is_early = true;
    round.moment = base::Nanos(0);
    round.descriptors = static_cast<int>(10 + random.below(7));
  }
  if (round.fault == Fault::cut) {
    round.transport = "tcp";
    // The fault `cut` needs hosts with given addresses, which a gateway without threads cannot
    // have.
    round.has_gateway = false;
    round.has_memory = false;
  }
  return round;
}

/// The setting `network` of a round, and the addresses of the hosts that follow from it.
struct Network {
  std::string text;
  std::string victim_address;  ///< setting `address` of the victim's cluster; "" = generated
  std::map<std::string, std::string> addresses;

  Network(const Round& round, const std::string& sockets) {
    const bool is_cut = round.fault == Fault::cut;
    const bool is_tcp = round.transport == "tcp";
    const int first = is_tcp ? free_ports(static_cast<int>(host_names.size())) : 0;
    const std::string near = is_cut ? FarNetwork::near() : "127.0.0.1";
    text = is_tcp ? fmt::format("port: {}, address: {}, security: run", first, near)
                  : fmt::format("transport: ipc, directory: {}", sockets);
    for (std::size_t i = 0; i < host_names.size(); ++i) {
      const std::string& host = host_names[i];
      const bool is_far = is_cut && host == round.victim;
      addresses[host] = is_tcp ? fmt::format("tcp://{}:{}", is_far ? FarNetwork::far() : near,
                                             first + static_cast<int>(i))
                               : fmt::format("ipc://{}/{}", sockets, host);
      if (is_far) victim_address = fmt::format(", address: {{{}: \"{}\"}}", host, addresses[host]);
    }
  }
};

std::string config(const Round& round, const Network& network) {
  const auto deadline = round.is_early ? early_deadline : base::Nanos(60s);
  const auto address_in = [&](const char* hosts) {
    return round.victim.starts_with(hosts) ? network.victim_address : "";
  };
  return fmt::format(
             R"(
network: {{{}, liveness: {{beat: 100ms, silent: {}}}}}
deadline: {}
shared_memory: {}
clusters:
  alpha: {{hosts: 2, threads: 2{}}}
  beta: {{hosts: [b1, b2{}, threads: 2{}}}
  gamma: {{hosts: 1, threads: 1{}}}
links: {{all: {{latency: 1ms}}}}
)",
             network.text, base::format_time(silent), base::format_time(deadline),
             round.has_memory ? "true" : "false", address_in("alpha"),
             round.has_gateway ? "], gateway: beta-gate" : ", beta-gate]", address_in("b"),
             address_in("gamma")) +
         (round.algorithm.empty() ? "lanes:\n" : R"(
collectives:
  sum: {operation: sum, template: f64, condition: {less: 1e-300}, contributions: non_negative}
exchanges:
  rows: {template: "f64[]"}
elements:
  report: {host: alpha-0, template: bytes, reach: all}
)");
}

/// The processes of a round.
class Processes {
 public:
  Processes(const Round& round, const std::string& program, const Folder& folder)
      : trace_(folder.file("trace")) {
    const std::string sockets = folder.file("sockets");
    std::filesystem::create_directory(sockets);
    std::filesystem::permissions(sockets, std::filesystem::perms::owner_all);
    setenv("PATHS_SOCKETS", sockets.c_str(), 1);
    const Network network(round, sockets);
    addresses_ = network.addresses;
    const std::string file = folder.write("faults.yaml", config(round, network));
    const std::string key = folder.file("run.key");
    const std::string bin = PATHS_BUILD_BIN_DIR;
    REQUIRE(run_shell(fmt::format("{}/paths keygen --run -o {}", bin, key)).exit_code == 0);
    const std::string algorithm = round.algorithm.empty() ? "" : " --algorithm " + round.algorithm;
    if (round.fault == Fault::cut) network_ = std::make_unique<FarNetwork>();
    for (const std::string& host : host_names) {
      const bool is_far = network_ != nullptr && host == round.victim;
      processes_.emplace(
          host,
          start_command(fmt::format(
              "sh -c 'ulimit -n {}; exec env -u PATHS_CONFIG -u PATHS_SEED {}{}/{} --config "
              "{} --host {} --run-key {} --trace {}{}'",
              host == round.victim ? round.descriptors : 1024, is_far ? network_->command() : "",
              bin, program, file, host, key, trace_, algorithm)));
    }
  }

  void inflict(const Round& round) {
    const HostProcess& victim = processes_.at(round.victim);
    if (round.fault == Fault::kill) victim.signal_it(SIGKILL);
    if (round.fault == Fault::freeze) victim.signal_it(SIGSTOP);
    if (round.fault == Fault::terminate) victim.signal_it(SIGTERM);
    if (round.fault == Fault::cut) network_->cut();
  }

  /// Waits until all hosts except the victim have ended, or `longest` has passed. Returns the times
  /// of their ends since `since` in seconds, by host.
  std::map<std::string, double> await_ends(const std::string& victim, const Stopwatch& since,
                                           base::Nanos longest) const {
    std::map<std::string, double> ends;
    while (ends.size() + 1 < processes_.size() && since.now() < longest) {
      for (const auto& [name, process] : processes_)
        if (name != victim && !ends.contains(name) && has_ended(process))
          ends[name] = Seconds(since.now()).count();
      pause(5ms);
    }
    return ends;
  }
  static bool has_ended(const HostProcess& process) {
    siginfo_t info{};
    const auto pid = static_cast<id_t>(process.pid());
    return waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
  }
  std::map<std::string, HostProcess>& all() { return processes_; }
  const std::map<std::string, std::string>& addresses() const { return addresses_; }
  const std::string& trace() const { return trace_; }

 private:
  std::map<std::string, std::string> addresses_;
  const std::string trace_;
  std::unique_ptr<FarNetwork> network_;
  std::map<std::string, HostProcess> processes_;
};

/// Runs the program of a round with one iteration and without a fault. Returns the time of this
/// run.
base::Nanos time_of_short_run(const Round& round) {
  const Folder folder;
  const Stopwatch since;
  Processes processes(round, round.short_program, folder);
  for (auto& [name, process] : processes.all()) check_ends_well(process);
  return since.now();
}

/// Returns the lines with which a process reports its failures.
std::vector<std::string> errors_of(const HostProcess& process) {
  std::vector<std::string> errors;
  for (const std::string begin : {"thread ", "host "})
    for (const std::string& line : process.lines(begin)) errors.push_back(begin + line);
  return errors;
}

/// Returns the words for the state that survivors report after a fault.
const char* state_words(Fault fault) {
  if (fault == Fault::freeze) return "frozen: ";
  if (fault == Fault::cut) return "unreachable: ";
  return paths::process_ended;
}

/// Figures of all rounds.
struct Figures {
  int rounds = 0, survivors = 0, named_host = 0, named_state = 0, late = 0, unmet = 0, traces = 0;
  std::vector<double> last_over_silent;  ///< seconds from `silent` after the fault to the last end

  /// Returns a percentile by the nearest-rank method.
  double percentile(double share) const {
    auto sorted = last_over_silent;
    std::sort(sorted.begin(), sorted.end());
    const auto rank = static_cast<std::size_t>(std::ceil(share * double(sorted.size())));
    return sorted.empty() ? 0 : sorted[std::max<std::size_t>(rank, 1) - 1];
  }
  std::string text() const {
    return fmt::format(
        "rounds of faults: {} rounds, {} survivors, {} named the host, {} its state; last end "
        "minus silent: median {:.2f} s, p95 {:.2f} s, max {:.2f} s; {} rounds beyond silent + 1 s; "
        "{} survivors of early faults had not met the victim; {} traces were read\n",
        rounds, survivors, named_host, named_state, percentile(0.5), percentile(0.95),
        percentile(1), late, unmet, traces);
  }
};

/// Checks that survivors left no socket, door or lock.
void check_files(const Processes& processes, const std::string& victim) {
  for (const auto& [host, address] : processes.addresses()) {
    if (host == victim) continue;
    INFO(host << " at " << address);
    for (const std::string& at : {address, paths::door_address(address)}) {
      const std::filesystem::path file = paths::socket_file(at);
      if (file.empty()) continue;
      CHECK_FALSE(std::filesystem::exists(file));
      CHECK_FALSE(std::filesystem::exists(file.string() + ".lock"));
    }
  }
}

/// Checks that the traces of the survivors are readable. If the fault is early, a survivor may have
/// no trace.
void check_trace(const std::string& trace, bool is_early, Figures& figures) {
  const bool is_there = std::filesystem::exists(trace);
  CHECK((is_there || is_early));
  if (!is_there) return;
  const Said said =
      run_shell(fmt::format("{}/paths analyze {} --rows 1", PATHS_BUILD_BIN_DIR, trace));
  INFO(said.text);
  CHECK(said.exit_code == 0);
  if (said.exit_code == 0) ++figures.traces;
}

/// Numbers of errors of a survivor.
struct Errors {
  std::ptrdiff_t all = 0;
  std::ptrdiff_t hosts = 0;   ///< errors that name the victim
  std::ptrdiff_t states = 0;  ///< errors that name the state of the victim
  std::ptrdiff_t unmet = 0;   ///< errors that say that the victim did not connect, or not yet

  Errors(const HostProcess& process, const Round& round) {
    const auto errors = errors_of(process);
    const auto count = [&](const std::string& words) {
      return std::count_if(errors.begin(), errors.end(), [&](const std::string& error) {
        return error.find(words) != std::string::npos;
      });
    };
    all = std::ssize(errors);
    hosts = count("host " + round.victim);
    states = count(state_words(round.fault));
    unmet = count("it did not connect within") + count("is missing: it has not connected to ");
  }
  bool name_host() const { return all > 0 && hosts == all; }
  bool name_state() const { return name_host() && (states == all || unmet > 0); }
};

/// Waits for the end of the victim. A frozen victim continues, and then must also end.
void end_victim(HostProcess& victim, Fault fault) {
  if (fault == Fault::few_descriptors) {
    CHECK(victim.end(10'000) == 1);
    CHECK_THAT(victim.text(),
               Catch::Contains(": it needs at least ") && Catch::Contains(" open descriptors"));
  } else if (fault == Fault::freeze) {
    victim.signal_it(SIGCONT);
    CHECK(victim.end(10'000) == 1);
    INFO(victim.text());
  } else if (fault == Fault::cut) {
    victim.kill_it();
  } else {
    CHECK(victim.end(10'000) == 128 + (fault == Fault::kill ? SIGKILL : SIGTERM));
  }
}

void check_round(const Round& round, Figures& figures) {
  INFO(round.text());
  const Folder folder;
  // Time in which all processes surely start: twice the time of a short run on this machine.
  const base::Nanos start = round.is_early ? base::Nanos(0) : 2 * time_of_short_run(round);
  Processes processes(round, round.program, folder);
  pause(start + round.moment);
  const Stopwatch since;
  processes.inflict(round);
  const base::Nanos longest =
      (round.is_early ? early_deadline : base::Nanos(0)) + end_longest + slack;
  const auto ends = processes.await_ends(round.victim, since, longest);
  ++figures.rounds;
  figures.survivors += static_cast<int>(host_names.size()) - 1;
  // Whether any survivor had connected with the victim. Otherwise all of them wait for the victim
  // until the deadline.
  bool is_met = false;
  int named = 0, unmet = 0;
  double last = 0;
  std::map<std::string, Errors> errors;
  std::string texts;
  for (auto& [name, process] : processes.all()) {
    if (name == round.victim) continue;
    INFO("survivor " << name << ": " << process.text());
    CHECK(ends.contains(name));
    if (!ends.contains(name)) process.signal_it(SIGKILL);
    CHECK(process.end() == 1);
    const Errors& found = errors.emplace(name, Errors(process, round)).first->second;
    CHECK(found.all > 0);
    is_met = is_met || found.states > 0;
    if (found.name_host()) ++figures.named_host;
    if (found.name_state()) ++named;
    if (found.unmet > 0) ++unmet;
    if (found.unmet == 0 && ends.contains(name)) last = std::max(last, ends.at(name));
    texts += fmt::format("{}: {}", name, process.text());
  }
  figures.named_state += named;
  figures.unmet += unmet;
  std::cout << fmt::format(
      "round {}: {}: last survivor after {:.2f} s, {} of {} name the host and its state, {} had "
      "not met it\n",
      figures.rounds, round.text(), last, named, errors.size(), unmet);
  std::cout.flush();
  INFO(texts);
  CHECK((is_met || round.is_early));
  if (is_met) {
    figures.last_over_silent.push_back(last - Seconds(silent).count());
    if (last > Seconds(end_longest).count()) ++figures.late;
    CHECK(last <= Seconds(end_longest + slack).count());
  }
  for (const auto& [name, found] : errors) {
    INFO("survivor " << name);
    CHECK(found.hosts > 0);
    if (is_met && found.unmet == 0) CHECK(found.name_state());
  }
  check_files(processes, round.victim);
  check_trace(processes.trace(), round.is_early, figures);
  end_victim(processes.all().at(round.victim), round.fault);
}

}  // namespace

TEST_CASE("liveness: rounds of faults end every survivor in time with the host and its state") {
  const bool can_cut = FarNetwork::is_available();
  if (!can_cut) std::cout << "rounds of faults: no links are cut: that needs root and ip netns\n";
  runtime::Random random(from_environment("PATHS_SEED", 1));
  const std::uint64_t rounds = from_environment("PATHS_FAULTS", 4);
  Figures figures;
  for (std::uint64_t round = 0; round < rounds; ++round)
    check_round(draw(random, can_cut), figures);
  unsetenv("PATHS_SOCKETS");
  std::cout << figures.text();
  CHECK(figures.survivors > 0);
}
#endif
