// SPDX-License-Identifier: Apache-2.0
// tests/paths/lanes_config_test.cpp — lanes and ways in words.
#include <catch2/catch.hpp>
#include <string>

#include "paths/config/config.hpp"
#include "paths/plan/print_plan.hpp"
#include "wrappers/all.hpp"

namespace {

paths::Plan plan_of(const std::string& text) {
  return paths::read_plan(base::parse_settings(text, "test"), wrappers::all_kinds());
}

std::vector<std::string> steps(const paths::Plan& plan, const std::string& from,
                               const std::string& to) {
  std::vector<std::string> all;
  for (const paths::Hop& hop : way_between(plan, *plan.host_named(from), *plan.host_named(to)))
    all.push_back(plan.hosts[hop.to].name + (hop.link.empty() ? "" : " over " + hop.link));
  return all;
}

}  // namespace

TEST_CASE("lanes: every config of clusters knows the ways, over the links that its paths cross") {
  const std::string text =
      "clusters:\n  alpha: {hosts: 2, gateway: gate, network: {latency: 50us}}\n"
      "  beta: {hosts: 2}\nlinks:\n  - {between: [alpha, beta], latency: 10ms}\n";
  const paths::Plan plan = plan_of(text);
  REQUIRE(plan.ways);
  CHECK_FALSE(plan.lanes.is_written);
  CHECK(steps(plan, "alpha-0", "beta-1") == std::vector<std::string>{"gate over network.alpha-0",
                                                                     "beta-0 over wan.alpha.beta",
                                                                     "beta-1"});
  CHECK(steps(plan, "beta-0", "alpha-1") ==
        std::vector<std::string>{"gate over wan.beta.alpha", "alpha-1 over network.gate"});
  CHECK(steps(plan, "alpha-1", "alpha-0") ==
        std::vector<std::string>{"alpha-0 over network.alpha-1"});
  CHECK(steps(plan, "beta-0", "beta-0").empty());
}

TEST_CASE("lanes: the ways are printed, and part of the plan, with the key lanes alone") {
  const std::string text =
      "clusters:\n  alpha: {hosts: 2, gateway: gate, network: {latency: 50us}}\n"
      "  beta: {hosts: 2}\n  gamma: {hosts: 1}\n"
      "links:\n  - {between: [alpha, beta], latency: 10ms}\n"
      "  - {between: [beta, gamma]}\n";
  const paths::Plan before = plan_of(text), plan = plan_of(text + "lanes: {inbox: 1MiB}\n");
  CHECK_FALSE(before.digest == plan.digest);
  const std::string low_level = paths::print_plan(plan, wrappers::all_kinds());
  CHECK_THAT(low_level, Catch::Contains("lanes: {inbox: 1MiB, frame: 64KiB}\n"));
  CHECK_THAT(paths::print_plan(before, wrappers::all_kinds()),
             !Catch::Contains("lanes") && !Catch::Contains("ways"));
  const paths::Plan again = plan_of(low_level);
  CHECK(again.digest == plan.digest);
  CHECK(again.lanes == plan.lanes);
  CHECK(steps(again, "alpha-0", "beta-1") == steps(plan, "alpha-0", "beta-1"));
  CHECK(steps(again, "beta-1", "gamma-0") == std::vector<std::string>{"beta-0", "gamma-0"});
  CHECK_THAT(missing_way(again, *again.host_named("alpha-0"), *again.host_named("gamma-0")),
             Catch::Contains("no link from cluster alpha to cluster gamma"));
}

TEST_CASE("lanes: frames may be unlimited") {
  const std::string text = "clusters:\n  alpha: {hosts: 2}\n";
  const paths::Plan plan = plan_of(text + "lanes: {frame: unlimited}\n");
  CHECK(plan.lanes.frame_bytes == 0);
  CHECK(plan_of(paths::print_plan(plan, wrappers::all_kinds())).digest == plan.digest);
  CHECK(plan_of(text + "lanes:\n").lanes.is_written);
}

TEST_CASE("lanes: mistakes in them are told with their places") {
  const std::string text = "clusters:\n  alpha: {hosts: 2}\n";
  CHECK_THROWS_WITH(plan_of(text + "lanes: {frame: 12B}\n"),
                    Catch::Contains("test:3:16: frame: expected a size from 1KiB to 1GiB"));
  CHECK_THROWS_WITH(plan_of(text + "lanes: {inbx: 12B}\n"),
                    Catch::Contains("did you mean 'inbox'"));
  const std::string low = "hosts:\n  one: {cluster: a}\n  two: {cluster: b}\n";
  CHECK_THROWS_WITH(plan_of(low + "ways: {a: {exit: one}, b: {exit: two}}\n"),
                    Catch::Contains("ways: expected the key lanes"));
  CHECK_THROWS_WITH(plan_of(low + "lanes:\nways: {a: {exit: two}}\n"),
                    Catch::Contains("expected those of cluster b") &&
                        Catch::Contains("exit: expected a host of cluster a, found 'two'"));
  CHECK_THROWS_WITH(
      plan_of(low + "lanes:\nways: {a: {exit: one, to: {c: {}}}, b: {exit: two, to: {b: {}}}}\n"),
      Catch::Contains("the name of a cluster") && Catch::Contains("found the same"));
}
