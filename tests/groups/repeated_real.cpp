// SPDX-License-Identifier: Apache-2.0
// tests/groups/repeated_real.cpp — processes of one machine that repeat small calls.
//
// A host carries out a repeated call without validating it again
// (groups/execution/repeated_calls.hpp).
#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "groups/group.hpp"
#include "tests/groups/random_operations.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/processes.hpp"

namespace {

using Values = std::vector<double>;
using test_support::Say;
using test_support::say_error;

test_support::Sim hosts_of_a_machine(int hosts) {
  return test_support::Sim(
      test_support::network_line("ipc", hosts) +
      fmt::format("deadline: 20s\nclusters: {{a: {{hosts: {}}}}}\nlanes:\n", hosts));
}

/// Runs allreduces of one value, which the members may repeat.
void run_sums(groups::Group& group, int times) {
  Values in{1}, out(1);
  for (int i = 0; i < times; ++i) group.run(groups::allreduce(in, out, "sum"));
}

/// Starts the hosts, and checks that each says one line that begins with "told: " and that contains
/// all `expected` texts. A host that is named in `silent` says nothing.
void check_told(const test_support::Sim& sim, const test_support::HostThread& program,
                const std::vector<std::string>& expected, const std::string& silent = "") {
  auto hosts = test_support::start_hosts(sim, program);
  test_support::each_end(hosts, [&](const std::string& name, const auto& host, int) {
    INFO(name << ": " << host.text());
    if (name == silent) return;
    REQUIRE(host.lines("told: ").size() == 1);
    for (const std::string& text : expected)
      CHECK_THAT(host.lines("told: ").front(), Catch::Contains(text));
  });
}

}  // namespace

// Does not run under the thread sanitizer, which does not see how processes affect each other's
// memory.
TEST_CASE("groups: repeated calls of each collective give the results of their own arrays",
          "[without_tsan]") {
  const auto hosts_number = GENERATE(2, 4);
  const std::uint64_t seed = test_support::from_environment("PATHS_SEED", 1);
  const test_support::Sim sim = hosts_of_a_machine(hosts_number);
  auto hosts = test_support::start_hosts(sim, [&](paths::Thread& thread, const Say& say) {
    groups::Group world(thread);
    // Calls that differ in one property are mixed. Each of them is repeated with other values.
    std::mt19937_64 random(seed);
    test_support::RandomGroup all;
    for (std::uint64_t salt = 0; salt < 600; ++salt) {
      const auto collective =
          collectives::all_collectives[random() % std::size(collectives::all_collectives)];
      all.drawn.push_back({.collective = collective,
                           .operation = random() % 2 == 0 ? "sum" : "max",
                           .algorithm = random() % 8 == 0 ? "recursive_doubling" : "best",
                           .root = static_cast<std::uint32_t>(random() % world.size()),
                           .counts = {1 + random() % 2},
                           .is_in_place = random() % 2 == 0,
                           .salt = salt});
      for (int again = 0; random() % 4 != 0 && again < 5; ++again) {
        all.drawn.push_back(all.drawn.back());
        all.drawn.back().salt = ++salt;
      }
    }
    for (auto& drawn : all.drawn)
      if (drawn.algorithm == "recursive_doubling" &&
          drawn.collective != collectives::Collective::allreduce)
        drawn.algorithm = "best";
    say(fmt::format("wrong {}", test_support::wrong_operations_of(world, thread, all, seed)));
  });
  test_support::each_end(hosts, [&](const std::string&, const auto& host, int code) {
    INFO(host.text());
    CHECK(code == 0);
    CHECK(host.lines("wrong 0").size() == 1);
  });
}

TEST_CASE("groups: if a member repeats another call than the others then both are named") {
  check_told(
      hosts_of_a_machine(2),
      [](paths::Thread& thread, const Say& say) {
        groups::Group world(thread);
        Values one(1), two(2), out(2);
        for (int i = 0; i < 3; ++i) {
          world.run(groups::allreduce(one, std::span(out).first(1), "sum"));
          world.run(groups::allreduce(two, out, "sum"));
        }
        say_error(say, [&] {
          if (thread.rank() == 0)
            world.run(groups::allreduce(one, std::span(out).first(1), "sum"));
          else
            world.run(groups::allreduce(two, out, "sum"));
        });
      },
      {"'allreduce sum f64, 1 by best'", "'allreduce sum f64, 2 by best'", "operation 6 of group"});
}

TEST_CASE("groups: if a repeated call has a wrong value then the error names its thread") {
  check_told(hosts_of_a_machine(3),
             [](paths::Thread& thread, const Say& say) {
               groups::Group world(thread);
               run_sums(world, 3);
               Values in{thread.rank() == 1 ? std::numeric_limits<double>::quiet_NaN() : 1}, out(1);
               say_error(say, [&] { world.run(groups::allreduce(in, out, "sum")); });
             },
             {"thread a-1/0", "NaN", "operation 3 of group world"});
}

TEST_CASE("groups: a failed repeated call fails the calls after it with the same error") {
  check_told(hosts_of_a_machine(2),
             [](paths::Thread& thread, const Say& say) {
               groups::Group world(thread);
               run_sums(world, 3);
               Values in{thread.rank() == 1 ? std::numeric_limits<double>::quiet_NaN() : 1}, out(1);
               try {
                 world.run(groups::allreduce(in, out, "sum"));
               } catch (const paths::TravelError&) {
                 say_error(say, [&] { run_sums(world, 1); });
               }
             },
             {"thread a-1/0", "NaN", "operation 3 of group world"});
}

TEST_CASE("groups: if a process is killed before it repeats a call then the others name it") {
  check_told(
      hosts_of_a_machine(3),
      [](paths::Thread& thread, const Say& say) {
        groups::Group world(thread);
        run_sums(world, 100);
        if (thread.rank() == 1) kill(getpid(), SIGKILL);
        say_error(say, [&] { run_sums(world, 1); });
      },
      {"a-1"}, "a-1");
}

TEST_CASE("groups: a call that names an algorithm uses it though an equal call was repeated") {
  const test_support::Sim sim = hosts_of_a_machine(2);
  auto hosts = test_support::start_hosts(sim, [](paths::Thread& thread, const Say& say) {
    groups::Group world(thread);
    run_sums(world, 3);
    Values in{1}, out(1);
    world.run(groups::by("recursive_doubling", groups::allreduce(in, out, "sum")));
    say("by " + world.last_algorithm());
  });
  test_support::each_end(hosts, [&](const std::string&, const auto& host, int code) {
    CHECK(code == 0);
    CHECK_THAT(host.line("by "), Catch::StartsWith("recursive_doubling"));
  });
}

TEST_CASE("groups: a repeated call with overlapping arrays is refused") {
  check_told(hosts_of_a_machine(2),
             [](paths::Thread& thread, const Say& say) {
               groups::Group world(thread);
               Values values(3);
               const auto both = std::span(values);
               for (int i = 0; i < 2; ++i)
                 world.run(groups::allreduce(both.first(1), both.last(1), "sum"));
               for (int i = 0; i < 2; ++i)
                 world.run(groups::allreduce(both.first(2), both.first(2), "sum"));
               say_error(say,
                         [&] { world.run(groups::allreduce(both.first(2), both.last(2), "sum")); });
             },
             {"`in` and `out` overlap"});
}

TEST_CASE("groups: after links were taken repeated calls use them") {
  const test_support::Folder folder;
  const std::string file = folder.write("links.yaml", "clusters: {a: {}}\n");
  const test_support::Sim sim = hosts_of_a_machine(2);
  auto hosts = test_support::start_hosts(sim, [&](paths::Thread& thread, const Say& say) {
    groups::Group world(thread);
    run_sums(world, 3);
    const std::string before = world.last_algorithm();
    world.take_links(file);
    run_sums(world, 3);
    say(fmt::format("before {}, after {}", before, world.last_algorithm()));
  });
  test_support::each_end(hosts, [&](const std::string&, const auto& host, int code) {
    INFO(host.text());
    CHECK(code == 0);
    CHECK_THAT(host.line("before "), Catch::Contains("shared_memory, after "));
    CHECK_THAT(host.line("before "), !Catch::Contains("after shared_memory"));
  });
}
