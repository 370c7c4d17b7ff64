// SPDX-License-Identifier: Apache-2.0
// tests/paths/bounds_real.cpp — limits on the memory that strangers and peers can take from a host.
//
// PATHS_GREETINGS=1000000 makes that many greetings, and prints the memory.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "pastset/tuple.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/raw_peer.hpp"
#include "tests/support/resources.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr std::uint64_t mebi = 1 << 20;
constexpr std::uint64_t two_gibi = 2048 * mebi;

std::string config(int port, const std::string& security, const std::string& more = "") {
  return fmt::format(
      "network: {{port: {}, security: {}}}\nshared_memory: false\n{}"
      "clusters: {{a: {{hosts: 2, threads: 1}}}}\n"
      "collectives: {{sum: {{operation: sum, template: f64}}}}\n",
      port, security, more);
}

/// Two host processes that run reductions until the test ends them.
class Run {
 public:
  Run(int port, const std::string& security, const std::string& more = "")
      : sim_(config(port, security, more)),
        hosts_(start_hosts(sim_, [this](paths::Thread& thread, const Say& say) {
          double end = 0;
          for (int round = 0; end == 0; ++round) {
            const bool wants_end = thread.rank() == 0 && fs::exists(end_file_);
            end = thread.path("sum").move_value(wants_end ? 1.0 : 0.0).payload.read<double>();
            if (round == 20) say("is at work");
            thread.sleep_for(1ms);
          }
        })) {
    for (auto& [name, process] : hosts_) REQUIRE(process.says("is at work"));
    measure();
  }
  /// Measures the memory from which check_memory() counts.
  void measure() { resident_ = resident_kib(victim().pid()); }
  std::uint64_t resident() const { return resident_; }
  const Sim& sim() const { return sim_; }
  HostProcess& victim() { return hosts_.at("a-0"); }
  /// Checks that the victim's memory has not grown by more than `most_mib` MiB.
  void check_memory(std::uint64_t most_mib = 16) {
    if (!keeps_freed_memory) CHECK(resident_kib(victim().pid()) < resident_ + most_mib * 1024);
  }
  void end_well() {
    std::ofstream(end_file_).put('.');
    check_all_end_well(hosts_);
  }

 private:
  const Folder folder_;
  const std::string end_file_ = folder_.file("end");
  const Sim sim_;
  HostProcesses hosts_;
  std::uint64_t resident_ = 0;
};

/// Checks that the host closes the connection of `peer`, which sends up to 2 GiB, before 256 MiB
/// are sent.
void check_is_stopped(RawPeer& peer, Run& run) {
  CHECK(peer.flood(two_gibi) < 256 * mebi);
  CHECK(peer.is_closed());
  run.check_memory();
}

/// Waits until the host has read about everything that was sent to it before: it answers a peer of
/// another protocol version.
void await_reader(int port) {
  RawPeer last(port);
  last.send_frame(raw_hello(RawHeader{.text = "last", .version = 7}, 1, 1));
  CHECK(last.next_header().value_or("none") == raw_refusal("version"));
}

/// Sends the greetings with numbers in [from, to), each on a connection of its own. Waits for the
/// host after every 64 greetings, because connections that it has not read yet take memory.
template <class Greeting>
void greet(int port, std::uint64_t from, std::uint64_t to, const Greeting& greeting) {
  std::deque<RawPeer> open;
  for (std::uint64_t number = from; number < to; ++number) {
    open.emplace_back(port).send_frame(greeting(number));
    if (open.size() < 64 && number + 1 < to) continue;
    await_reader(port);
    open.clear();
  }
}

}  // namespace

TEST_CASE("bounds: in plain a stranger that announces too much is closed and costs no memory") {
  const int port = free_ports(2);
  Run run(port, "plain");
  constexpr std::uint64_t one = 1;
  for (const std::uint64_t length : {mebi + (64 << 10) + 1, one << 31, (one << 31) + 1, one << 32,
                                     (one << 63) - 1, one << 63, ~std::uint64_t{0}}) {
    INFO("length " << length);
    RawPeer first(port), later(port);
    first.shake_hands();
    first.send_bytes(zmtp_length(length, false));
    check_is_stopped(first, run);
    later.shake_hands();
    later.send_bytes(zmtp_part("a header", true) + zmtp_length(length, true));
    check_is_stopped(later, run);
  }
  // A body above 1 MiB, on a connection that the host has not welcomed.
  for (const std::uint64_t total : {2 * mebi, one << 31, one << 40, ~std::uint64_t{0}}) {
    const std::string hello =
        raw_hello(header_of_second_host(run.sim().plan()), run.sim().plan().digest.high, 0);
    RawPeer peer(port);
    peer.send_first_part(hello, std::string(mebi, 'x'), total);
    for (int part = 0; part < 64; ++part)
      peer.send_bytes(zmtp_part("", true) + zmtp_part(std::string(mebi, 'x'), false));
    run.check_memory();
  }
  run.end_well();
}

TEST_CASE("bounds: greetings for deployments and lanes that no host makes cost no memory") {
  const std::uint64_t count = from_environment("PATHS_GREETINGS", 20'000);
  const int port = free_ports(2);
  Run run(port, "plain", "lanes: {}\n");
  const paths::Plan& plan = run.sim().plan();
  // One third comes from a host of the plan, and one third from hosts that do not exist. The last
  // third opens lanes.
  const auto greeting = [&](std::uint64_t number) {
    RawHeader header = header_of_second_host(plan);
    if (number % 3 != 0) header.text = fmt::format("stranger-{}", number);
    if (number % 3 == 2) return raw_lane(header, {.kind = 10, .begin = 1});
    return raw_hello(header, plan.digest.high, plan.digest.low,
                     fmt::format("deployment {} of nobody", number));
  };
  // A host keeps some greetings. It gets so many at first that later ones can only replace them.
  const std::uint64_t first = std::min<std::uint64_t>(count, 20'000) / 2;
  greet(port, 0, first, greeting);
  run.measure();
  greet(port, first, count, greeting);
  {
    RawPeer one(port);
    for (std::uint64_t number = 0; number < count; ++number) one.send_frame(greeting(3 * number));
    await_reader(port);
  }
  // Without a limit, 20,000 greetings take 7 MB and 60,000 take 36 MB.
  run.check_memory(count > 20'000 ? 16 : 4);
  if (count != 20'000)
    fmt::print("{} greetings: {} KiB resident after {}, {} KiB after all\n", count, run.resident(),
               first, resident_kib(run.victim().pid()));
  run.end_well();
}

TEST_CASE("bounds: with encryption a stranger without the key costs no memory") {
  const int port = free_ports(2);
  Run run(port, "run");
  constexpr std::uint64_t one = 1;
  for (const std::uint64_t length : {one << 20, one << 31, one << 32, ~std::uint64_t{0}}) {
    INFO("length " << length);
    RawPeer peer(port, zmtp_curve_greeting());
    peer.send_bytes(zmtp_length(length, false));
    check_is_stopped(peer, run);
  }
  // The peer sends parts without end, before the handshake or in place of its first command.
  for (const std::string& greeting : {zmtp_curve_greeting(), zmtp_greeting()}) {
    RawPeer peer(port, greeting);
    const std::string part = zmtp_part(std::string(60'000, 'x'), true);
    for (std::uint64_t sent = 0; peer.is_there() && sent < two_gibi; sent += part.size())
      peer.send_bytes(part);
    check_is_stopped(peer, run);
  }
  run.end_well();
}

TEST_CASE("bounds: of many connections that send no message a host closes the oldest") {
  const std::string security = GENERATE("plain", "run");
  const int port = free_ports(2);
  Run run(port, security);
  const std::string greeting = security == "plain" ? zmtp_greeting() : zmtp_curve_greeting();
  constexpr std::size_t permitted = 64, planned_max = 8, count = 2 * permitted;
  std::vector<RawPeer> idle;
  for (std::size_t i = 0; i < count; ++i)
    idle.emplace_back(port, i % 2 == 0 ? greeting : greeting.substr(0, 5));
  for (std::size_t i = 0; i + permitted + planned_max < count; ++i) {
    INFO("connection " << i);
    CHECK(idle[i].is_closed());
  }
  for (std::size_t i = count - permitted; i < count; i += 20) CHECK_FALSE(idle[i].is_closed(50));
  run.check_memory();
  run.end_well();
}

TEST_CASE("bounds: a host that announces a tuple larger than the plan's is lost at once") {
  const int port = free_ports(2);
  const Sim sim(config(port, "plain", "deadline: 20s\n"));
  HostProcess victim(sim, 0, [](paths::Thread& thread, const Say& say) {
    say("is at work");
    thread.path("sum").move_value(1.0);
  });
  REQUIRE(victim.says("is at work"));
  const paths::Plan& plan = sim.plan();
  RawPeer peer(port);
  peer.send_frame(raw_hello(header_of_second_host(plan), plan.digest.high, plan.digest.low));
  REQUIRE(peer.next_header().has_value());
  peer.send_first_part(raw_move(header_of_second_host(plan), 1), std::string(mebi, 'x'), 64 * mebi);
  const int code = victim.end();
  INFO(victim.text());
  CHECK(code == 1);
  CHECK_THAT(victim.text(), Catch::Contains("a body of 67108864 bytes, of which at most 1048576 "
                                            "may come"));
}

TEST_CASE("bounds: tuples of several parts arrive on every path that the plan has for them") {
  const bool shared_memory = GENERATE(false, true);
  const Sim sim(fmt::format(R"({}shared_memory: {}
clusters:
  a: {{hosts: 2, threads: 1}}
  b: {{hosts: 2, threads: 1}}
links: [{{between: [a, b], latency: 1ms}}]
collectives:
  tree: {{operation: sum, template: "f64[400000]", algorithm: sequential}}
  roots: {{operation: sum, template: "f64[400000]", algorithm: magpie}}
  late: {{operation: sum, template: "f64[400000]", algorithm: "lagged:1"}}
elements: {{work: {{host: a-0, template: bytes, keep_newest: 0, reach: all}}}}
)",
                            network_line("tcp", 4), shared_memory));
  constexpr std::size_t count = 400'000;
  auto hosts = start_hosts(sim, [](paths::Thread& thread, const Say&) {
    const std::vector<double> ones(count, 1.0);
    const auto check = [](const base::Payload& sum, double expected) {
      if (sum.size() != count * sizeof(double) || sum.read<double>() != expected)
        throw std::runtime_error("a wrong tuple");
    };
    const auto payload = base::Payload::copy_of(std::as_bytes(std::span(ones)));
    for (const char* path : {"tree", "roots"}) check(thread.path(path).move(payload).payload, 4);
    for (int round = 0; round < 3; ++round) thread.path("late").move(payload);
    const pastset::Template bytes = *pastset::Template::parse("bytes");
    thread.path("work").move(
        pastset::TupleWriter(bytes).put_bytes(std::as_bytes(std::span(ones))).payload());
    if (thread.path("work").observe().payload.size() < payload.size())
      throw std::runtime_error("a wrong tuple");
  });
  check_all_end_well(hosts);
}
