// SPDX-License-Identifier: Apache-2.0
// tests/groups/machine_real.cpp — groups of processes of one machine, which share a region.
#include <fmt/format.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "groups/group.hpp"
#include "tests/groups/random_operations.hpp"
#include "tests/support/processes.hpp"

namespace {

using Values = std::vector<double>;
using test_support::say_error;

test_support::Sim hosts_of_a_machine(int hosts, const std::string& more = "") {
  return test_support::Sim(
      test_support::network_line("ipc", hosts) + more +
      fmt::format("deadline: 20s\nclusters: {{a: {{hosts: {}}}}}\nlanes:\n", hosts));
}

/// Returns a program on clusters of 3, 2 and 1 hosts. Groups treat each cluster as a machine.
test_support::Sim machines_apart(const std::string& more = "") {
  return test_support::Sim(test_support::network_line("ipc", 6) + more + R"(deadline: 20s
clusters: {a: {hosts: 3}, b: {hosts: 2}, c: {hosts: 1}}
links: {all: {latency: 1ms}}
lanes:
)");
}

/// Returns the present limit of the address space. If `lowers`, sets a lower limit with which the
/// process cannot map another 2 MiB.
rlimit limit_address_space(bool lowers) {
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  if (!lowers) return before;
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limit = before;
  limit.rlim_cur = pages * 4096 + (std::uint64_t{1} << 20);
  setrlimit(RLIMIT_AS, &limit);
  return before;
}

/// Returns a thread's contribution to `count` sums. If the terms are added in a different grouping,
/// at least one of 64 consecutive sums has different bits.
Values terms(std::uint32_t rank, std::size_t count) {
  Values values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(1.0 / static_cast<double>(1 + rank + 11 * i));
  return values;
}

void say_sum(paths::Thread& thread, const test_support::Say& say) {
  groups::Group world(thread);
  const Values in = terms(thread.rank(), 64);
  Values out(in.size());
  world.run(groups::allreduce(in, out, "sum"));
  say(fmt::format("sum {:a} by {}", fmt::join(out, " "), world.last_algorithm()));
}

}  // namespace

// Does not run under the thread sanitizer, which does not see how processes affect each other's
// memory.
TEST_CASE("groups: processes of a machine use shared memory, and lanes give the same bits",
          "[without_tsan]") {
  std::vector<std::string> sums;
  for (const std::string memory : {"", "shared_memory: false\n"}) {
    const test_support::Sim sim = hosts_of_a_machine(6, memory);
    auto hosts = test_support::start_hosts(sim, say_sum);
    for (auto& [name, host] : hosts) {
      CHECK(host.end(60'000) == 0);
      INFO(host.text());
      REQUIRE(host.lines("sum ").size() == 1);
      const std::string line = host.lines("sum ").front();
      const std::size_t by = line.find(" by ");
      CHECK((line.substr(by) == " by shared_memory") == memory.empty());
      sums.push_back(line.substr(0, by));
    }
  }
  for (const std::string& sum : sums) CHECK(sum == sums.front());
}

// Does not run under the thread sanitizer, which does not see how processes affect each other's
// memory.
TEST_CASE("groups: processes of each cluster share memory, and messages give the same bits",
          "[without_tsan]") {
  std::vector<std::string> lines;
  for (const std::string memory : {"", "shared_memory: false\n"}) {
    const test_support::Sim sim = machines_apart(memory);
    auto hosts =
        test_support::start_hosts(sim, [](paths::Thread& thread, const test_support::Say& say) {
          groups::Group world(thread);
          for (const std::size_t count : {64, 3'000, 20'000}) {  // 20,000 numbers take 2 chunks
            Values values = terms(thread.rank(), count), sum(count);
            for (const std::uint32_t root : {0, 2, 4, 5}) {
              world.run(groups::reduce(values, sum, "sum", root));
              world.run(groups::broadcast(sum, root));
              say(fmt::format("reduced {:a} at {}", fmt::join(std::span(sum).last(64), " "), root));
              world.run(groups::barrier());
            }
            world.run(groups::allreduce(values, sum, "sum"));
            world.run(groups::allreduce(values, values, "sum"));
            say(fmt::format("sum {:a}, in place {}", fmt::join(std::span(sum).first(64), " "),
                            values == sum));
          }
          say("by " + world.last_algorithm());
        });
    for (auto& [name, host] : hosts) {
      CHECK(host.end(60'000) == 0);
      INFO(host.text());
      CHECK((host.line("by ").find("shared_memory+") == 0) == memory.empty());
      const std::string text = host.text();
      lines.push_back(text.substr(0, text.find("by ")));
      CHECK(lines.back().find("in place true") != std::string::npos);
    }
  }
  for (const std::string& line : lines) CHECK(line == lines.front());
}

TEST_CASE("groups: if machines have an invalid sum then the error names no innocent thread") {
  const test_support::Sim sim = machines_apart();
  auto hosts =
      test_support::start_hosts(sim, [](paths::Thread& thread, const test_support::Say& say) {
        groups::Group world(thread);
        const double infinity = std::numeric_limits<double>::infinity();
        Values value(1, thread.rank() == 0 ? infinity : thread.rank() == 5 ? -infinity : 1);
        say_error(say, [&] { world.run(groups::allreduce(value, value, "sum")); });
      });
  for (auto& [name, host] : hosts) {
    host.end(60'000);
    INFO(host.text());
    CHECK_THAT(host.line("told: "), Catch::Contains("NaN in f64 sum"));
    CHECK_THAT(host.line("told: "), !Catch::Contains("/0: NaN"));
  }
}

TEST_CASE("groups: if calls differ on two machines then each thread learns what it called") {
  const test_support::Sim sim = machines_apart();
  auto hosts =
      test_support::start_hosts(sim, [](paths::Thread& thread, const test_support::Say& say) {
        groups::Group world(thread);
        world.run(groups::barrier());
        Values in(thread.rank() < 3 ? 1 : 2), out(in.size());
        say_error(say, [&] { world.run(groups::allreduce(in, out, "sum")); });
      });
  for (auto& [name, host] : hosts) {
    host.end(60'000);
    INFO(host.text());
    const int count = name.starts_with("a-") ? 1 : 2;
    CHECK_THAT(host.line("told: "),
               Catch::Contains(fmt::format("'allreduce sum f64, {} by best'", count)));
  }
}

TEST_CASE("groups: started operations between machines wait for the link at the same time") {
  constexpr std::size_t operations = 20;
  constexpr auto latency = std::chrono::milliseconds(200);
  const test_support::Sim sim(test_support::network_line("ipc", 4) + R"(deadline: 20s
clusters: {a: {hosts: 2}, b: {hosts: 2}}
links: {all: {latency: 200ms}}
lanes:
)");
  auto hosts = test_support::start_hosts(
      sim,
      [one_by_one = operations * latency](paths::Thread& thread, const test_support::Say& say) {
        groups::Group world(thread);
        world.run(groups::barrier());
        const base::Nanos begin = thread.host().runtime().now();
        std::vector<Values> values(operations, Values(1, 1));
        std::vector<groups::Started> started;
        for (Values& value : values)
          started.push_back(world.start(groups::allreduce(value, value, "sum")));
        for (groups::Started& one : started) one.wait();
        const base::Nanos time = thread.host().runtime().now() - begin;
        say(fmt::format("{}: {} after {}", time < one_by_one ? "soon" : "late",
                        values == std::vector<Values>(operations, Values(1, 4)), time.count()));
        say("by " + world.last_algorithm());
      });
  for (auto& [name, host] : hosts) {
    CHECK(host.end(60'000) == 0);
    INFO(host.text());
    CHECK(host.lines("soon: true").size() == 1);
    CHECK(host.lines("by shared_memory+").size() == 1);
  }
}

TEST_CASE("groups: in a group of several machines the error names the thread of an invalid value") {
  const std::uint32_t wrong = GENERATE(0, 1, 4, 5);
  const test_support::Sim sim = machines_apart();
  auto hosts =
      test_support::start_hosts(sim, [wrong](paths::Thread& thread, const test_support::Say& say) {
        groups::Group world(thread);
        world.run(groups::barrier());
        Values value(1, thread.rank() == wrong ? std::numeric_limits<double>::quiet_NaN() : 1);
        say_error(say, [&] { world.run(groups::allreduce(value, value, "sum")); });
      });
  const std::string thread = fmt::format("thread {}/0: NaN", sim.plan().hosts[wrong].name);
  for (auto& [name, host] : hosts) {
    host.end(60'000);
    INFO(host.text());
    CHECK_THAT(host.line("told: "), Catch::Contains(thread));
  }
}

TEST_CASE("groups: large values pass through shared memory in chunks and results are correct",
          "[without_tsan]") {
  test_support::add_composition();
  const auto hosts_number = GENERATE(2, 5);
  const test_support::Sim sim = hosts_of_a_machine(hosts_number);
  auto hosts =
      test_support::start_hosts(sim, [](paths::Thread& thread, const test_support::Say& say) {
        groups::Group world(thread);
        test_support::RandomGroup all;
        // A chunk has room for 16384 numbers. Each collective runs with each size. The four
        // combinations of operation and `is_in_place` are used in turn.
        std::size_t number = 0;
        for (const std::uint64_t count : {2049, 16385, 40001, 40002})
          for (const collectives::Collective collective : collectives::all_collectives) {
            all.drawn.push_back({.collective = collective,
                                 .operation = number % 2 == 0 ? "sum" : test_support::composition,
                                 .root = world.size() - 1,
                                 .counts = {count},
                                 .is_in_place = number / 2 % 2 == 0,
                                 .salt = count});
            ++number;
          }
        const std::uint64_t wrong = test_support::wrong_operations_of(world, thread, all, 1);
        say(fmt::format("wrong {} by {}", wrong, world.last_algorithm()));
      });
  for (auto& [name, host] : hosts) {
    CHECK(host.end(200'000) == 0);  // milliseconds
    INFO(host.text());
    CHECK(host.lines("wrong 0 by shared_memory").size() == 1);
  }
}

TEST_CASE("groups: calls with large blocks of very different sizes use messages") {
  const test_support::Sim sim = hosts_of_a_machine(3);
  auto hosts =
      test_support::start_hosts(sim, [](paths::Thread& thread, const test_support::Say& say) {
        groups::Group world(thread);
        // Counts of an alltoall of three threads: one row per source, one column per target. Only
        // the block from thread 0 to thread 1 is not empty.
        const std::vector<std::uint64_t> counts{0, 400'000, 0, 0, 0, 0, 0, 0, 0};
        const Values in(thread.rank() == 0 ? counts[1] : 0, 3.5);
        Values out(thread.rank() == 1 ? counts[1] : 0);
        world.run(groups::alltoall(in, out, counts));
        const bool is_right = out == Values(out.size(), 3.5);
        say(fmt::format("uneven {} by {}", is_right, world.last_algorithm()));
        Values all(3);
        world.run(groups::alltoall(all, all));
        say("even by " + world.last_algorithm());
      });
  for (auto& [name, host] : hosts) {
    CHECK(host.end(60'000) == 0);
    INFO(host.text());
    CHECK(host.lines("uneven true").size() == 1);
    CHECK(host.lines("uneven true by shared_memory").empty());
    CHECK(host.lines("even by shared_memory").size() == 1);
  }
}

TEST_CASE("groups: a process killed before a gather is named though another host is late") {
  const bool is_gather = GENERATE(true, false);
  const test_support::Sim sim = hosts_of_a_machine(3);
  auto hosts = test_support::start_hosts(
      sim, [is_gather](paths::Thread& thread, const test_support::Say& say) {
        groups::Group world(thread);
        world.run(groups::barrier());
        if (thread.rank() == 2) {
          say("begun");
          thread.sleep_for(std::chrono::seconds(15));
        }
        if (thread.rank() == 1) thread.sleep_for(std::chrono::milliseconds(900));
        const Values in(1, 1);
        Values out(3);
        say_error(say, [&] {
          if (is_gather)
            world.run(groups::gather(in, out, 0));
          else
            world.run(groups::allreduce(in, std::span(out).first(1), "sum"));
          world.run(groups::barrier());
        });
      });
  CHECK(hosts.at("a-2").says("begun"));
  test_support::pause(std::chrono::milliseconds(400));
  test_support::kill_host(hosts, "a-2");
  const auto check = [](const std::string&, const test_support::HostProcess& host, int code) {
    CHECK(code >= 0);
    CHECK_THAT(host.line("told: "), Catch::Contains("a-2"));
  };
  test_support::each_end(hosts, check, 10'000);  // milliseconds; less than the deadline
}

TEST_CASE("groups: a failed operation does not fail an earlier one of a slower process") {
  const test_support::Sim sim = hosts_of_a_machine(2);
  auto hosts =
      test_support::start_hosts(sim, [](paths::Thread& thread, const test_support::Say& say) {
        groups::Group world(thread);
        world.run(groups::barrier());
        if (thread.rank() == 0) thread.sleep_for(std::chrono::milliseconds(500));
        const Values in(1, 2), bad(1, std::numeric_limits<double>::quiet_NaN());
        Values out(1);
        world.run(groups::reduce(in, out, "sum", 0));
        if (thread.rank() == 0) say(fmt::format("sum {}", out[0]));
        say_error(say,
                  [&] { world.run(groups::allreduce(thread.rank() == 1 ? bad : in, out, "sum")); });
      });
  for (auto& [name, host] : hosts) {
    host.end(60'000);
    INFO(host.text());
    CHECK(host.lines("sum 4").size() == (name == "a-0" ? 1 : 0));
    CHECK_THAT(host.line("told: "), Catch::Contains("thread a-1/0: NaN"));
  }
}

TEST_CASE("groups: in shared memory an overflow has its index and no innocent thread") {
  const test_support::Sim sim = hosts_of_a_machine(2);
  auto hosts =
      test_support::start_hosts(sim, [](paths::Thread& thread, const test_support::Say& say) {
        groups::Group large(thread, "large", {0, 1}), scan(thread, "scan", {0, 1});
        std::vector<std::int32_t> numbers(100'000);
        numbers[60'000] = std::numeric_limits<std::int32_t>::max();
        try {
          large.run(groups::allreduce(numbers, numbers, "sum"));
        } catch (const paths::TravelError& error) {
          say(fmt::format("large: {}", error.what()));
        }
        const double infinity = std::numeric_limits<double>::infinity();
        Values values{thread.rank() == 0 ? infinity : -infinity};
        try {
          scan.run(groups::scan(values, values, "sum"));
        } catch (const paths::TravelError& error) {
          say(fmt::format("scan: {}", error.what()));
        }
      });
  for (auto& [name, host] : hosts) {
    host.end(60'000);
    INFO(host.text());
    CHECK_THAT(host.line("large: "), Catch::Contains("at index 60000"));
    if (name == "a-0") continue;  // the scan gives a-0 its own value
    CHECK_THAT(host.line("scan: "), Catch::Contains("NaN in f64 sum"));
    CHECK_THAT(host.line("scan: "), !Catch::Contains("thread a-1/0: NaN"));
  }
}

TEST_CASE("groups: started operations of processes use shared memory in their order") {
  const test_support::Sim sim = hosts_of_a_machine(3);
  auto hosts =
      test_support::start_hosts(sim, [](paths::Thread& thread, const test_support::Say& say) {
        groups::Group world(thread);
        constexpr std::size_t operations = 50;
        std::vector<Values> in(operations), out(operations);
        std::vector<groups::Started> started;
        for (std::size_t i = 0; i < operations; ++i) {
          in[i] = {static_cast<double>(i), static_cast<double>(thread.rank())};
          out[i].resize(2);
          started.push_back(world.start(groups::allreduce(in[i], out[i], "sum")));
        }
        for (groups::Started& one : started) one.wait();
        for (std::size_t i = 0; i < operations; ++i)
          if (out[i] != Values{3.0 * static_cast<double>(i), 3.0}) return say("wrong");
        say("right");
      });
  for (auto& [name, host] : hosts) {
    CHECK(host.end(60'000) == 0);
    INFO(host.text());
    CHECK(host.lines("right").size() == 1);
  }
}

// Does not run under sanitizers, which cannot work with this limit of the address space.
TEST_CASE("groups: if a process cannot map the shared memory then all use messages",
          "[without_asan][without_tsan]") {
  const std::uint32_t poor = GENERATE(0, 2);
  const bool is_one = GENERATE(true, false);
  const test_support::Sim sim = is_one ? hosts_of_a_machine(3) : machines_apart();
  auto hosts =
      test_support::start_hosts(sim, [poor](paths::Thread& thread, const test_support::Say& say) {
        groups::Group world(thread);
        const rlimit before = limit_address_space(thread.rank() == poor);
        Values in(20'000, thread.rank()), out(in.size());
        world.run(groups::allreduce(in, out, "sum"));
        setrlimit(RLIMIT_AS, &before);
        for (int i = 0; i < 3; ++i) world.run(groups::allreduce(in, out, "sum"));
        const double sum = world.size() * (world.size() - 1) / 2;
        if (out == Values(in.size(), sum)) say("sum by " + world.last_algorithm());
      });
  for (auto& [name, host] : hosts) {
    CHECK(host.end(60'000) == 0);
    INFO(host.text());
    CHECK(host.lines("sum by ").size() == 1);
    CHECK(host.line("sum by ").find("shared_memory") == std::string::npos);
  }
}

TEST_CASE("groups: a process that arrives late finds the others asleep and wakes them") {
  const test_support::Sim sim = hosts_of_a_machine(3);
  auto hosts =
      test_support::start_hosts(sim, [](paths::Thread& thread, const test_support::Say& say) {
        groups::Group world(thread);
        for (std::uint32_t late = 0; late < 3; ++late) {
          if (thread.rank() == late) thread.sleep_for(std::chrono::milliseconds(600));
          world.run(groups::barrier());
        }
        say("passed");
      });
  for (auto& [name, host] : hosts) {
    CHECK(host.end(60'000) == 0);
    INFO(host.text());
    CHECK(host.lines("passed").size() == 1);
  }
}

TEST_CASE("groups: a process that others wait for in shared memory is named at the deadline") {
  const test_support::Sim sim(test_support::network_line("ipc", 3) +
                              "deadline: 1s\nclusters: {a: {hosts: 3}}\nlanes:\n");
  auto hosts =
      test_support::start_hosts(sim, [](paths::Thread& thread, const test_support::Say& say) {
        groups::Group world(thread);
        world.run(groups::barrier());
        if (thread.rank() == 1) thread.sleep_for(std::chrono::milliseconds(2500));
        try {
          world.run(groups::barrier());
        } catch (const paths::TravelError& error) {
          say(fmt::format("told: {}", error.reason()));
        }
      });
  for (auto& [name, host] : hosts) {
    host.end(60'000);
    INFO(host.text());
    REQUIRE(host.lines("told: ").size() == 1);
    const std::string told = host.lines("told: ").front();
    CHECK(told.find("operation 1 of group world, barrier: host a-") != std::string::npos);
    CHECK(told.find("received nothing for 1s; waited for host a-1") != std::string::npos);
  }
}

TEST_CASE("groups: calls that differ in shared memory are both named") {
  const test_support::Sim sim = hosts_of_a_machine(2);
  auto hosts =
      test_support::start_hosts(sim, [](paths::Thread& thread, const test_support::Say& say) {
        groups::Group world(thread);
        world.run(groups::barrier());
        Values in(thread.rank() == 0 ? 1 : 2), out(in.size());
        say_error(say, [&] { world.run(groups::allreduce(in, out, "sum")); });
      });
  for (auto& [name, host] : hosts) {
    host.end(60'000);
    INFO(host.text());
    REQUIRE(host.lines("told: ").size() == 1);
    const std::string told = host.lines("told: ").front();
    CHECK(told.find("'allreduce sum f64, 1 by best'") != std::string::npos);
    CHECK(told.find("'allreduce sum f64, 2 by best'") != std::string::npos);
  }
}
