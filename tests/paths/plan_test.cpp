// SPDX-License-Identifier: Apache-2.0
// tests/paths/plan_test.cpp — plans built by code, and their queries.
#include "paths/plan/plan.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "base/errors.hpp"
#include "paths/plan/finish_plan.hpp"
#include "tests/support/read_config.hpp"

namespace {

using base::Settings;
using paths::Plan;
using namespace test_support;

Settings settings(const std::string& text) { return base::parse_settings(text, "code"); }

Plan::PlanPath path(const std::string& graph, std::uint32_t host, std::uint32_t threads,
                    paths::StageId stage) {
  Plan::PlanPath path;
  path.graph = graph;
  path.host = host;
  path.threads = threads;
  path.stage = stage;
  return path;
}

/// Returns a plan of two hosts. Two threads of "a" and one thread of "b" meet in a join on "a".
/// Their paths end in the element of "a".
Plan two_hosts() {
  Plan plan;
  plan.clusters = {"one", "two"};
  plan.hosts = {{"a", 0, 2, 0, 1.0, "tcp://127.0.0.1:7700", {}},
                {"b", 1, 1, 2, 1.0, "tcp://127.0.0.1:7701", {}}};
  plan.elements = {{"result", 0, *pastset::Template::parse("f64"), 0, 1, {}, {}}};
  plan.wrappers = {{"join", "allreduce", 0, settings("{operation: sum, template: f64}"), 0},
                   {"", "store", 0, settings("{element: result}"), 0},
                   {"", "forward", 1, settings("{to: a}"), 0}};
  plan.stages = {{0, 1, 0, 0}, {1, paths::no_stage, 0, 0}, {2, 0, 0, 0}};
  plan.paths = {path("sum", 0, 2, 0), path("sum", 1, 1, 2)};
  return plan;
}

void finish(Plan& plan) { paths::finish_plan(plan, wrappers::all_kinds()); }

}  // namespace

TEST_CASE("plan: finishing a plan built by code counts its slots") {
  Plan plan = two_hosts();
  finish(plan);
  CHECK(plan.wrappers[0].slots == 3);
  CHECK(plan.wrappers[1].slots == 1);
  CHECK(plan.paths[0].slot == 0);
  CHECK(plan.stages[2].slot == 2);
  CHECK(plan.thread_count() == 3);
}

TEST_CASE("plan: a printed plan built by code reads back with its digest") {
  Plan plan = two_hosts();
  finish(plan);
  CHECK(read_config(low_level_of(plan)).digest == plan.digest);
}

TEST_CASE("plan: contributors are named after their threads or hosts or clusters") {
  Plan plan = two_hosts();
  finish(plan);
  CHECK(plan.contributor(0, 0) == "thread a/0");
  CHECK(plan.contributor(0, 1) == "thread a/1");
  CHECK(plan.contributor(0, 2) == "thread b/0");
  CHECK(plan.contributor(2, 0) == "thread b/0");
  CHECK(plan.contributor(0, 9) != "");
}

TEST_CASE("plan: a contributor that is a join is named after everything above it") {
  const Plan plan = paths::load_plan(std::string(PATHS_SOURCE_DIR) + "/configs/two-clusters.yaml",
                                     wrappers::all_kinds());
  const auto index = [&](const std::string& name) {
    for (std::uint32_t wrapper = 0; wrapper < plan.wrappers.size(); ++wrapper)
      if (plan.wrappers[wrapper].name == name) return wrapper;
    return ~0u;
  };
  CHECK(plan.contributor(index("sum.join"), 0) == "cluster alpha");
  CHECK(plan.contributor(index("sum.join"), 1) == "cluster beta");
  CHECK(plan.contributor(index("sum.join.beta"), 1) == "host b2");
  CHECK(plan.contributor(index("sum.join.b2"), 1) == "thread b2/1");
}

TEST_CASE("plan: names are found with and without an index") {
  Plan plan = two_hosts();
  CHECK(plan.host_named("b") == 1u);
  CHECK(plan.host_named("c") == std::nullopt);
  plan.index_names();
  CHECK(plan.host_named("b") == 1u);
  CHECK(plan.element_named("result") == 0u);
  CHECK(plan.element_named("b") == std::nullopt);
}

TEST_CASE("plan: an invalid plan built by code is refused") {
  Plan plan = two_hosts();
  SECTION("an unknown kind") {
    plan.wrappers[0].kind = "allreduec";
    CHECK_THROWS_WITH(finish(plan), Catch::Contains("did you mean 'allreduce'?"));
  }
  SECTION("a cycle") {
    plan.stages[1].below = 0;
    CHECK_THROWS_WITH(finish(plan), Catch::Contains("a cycle"));
  }
  SECTION("a join in two stages") {
    plan.stages.push_back({0, 1, 0, 0});
    plan.stages[2].below = 3;
    CHECK_THROWS_WITH(finish(plan), Catch::Contains("meet in join but disagree below"));
  }
  SECTION("a way between hosts without a forward") {
    plan.wrappers[2] = {"", "event_collector", 1, settings("{}"), 0};
    CHECK_THROWS_WITH(finish(plan), Catch::Contains("expected forward: {to: a}"));
  }
  SECTION("a stage of two paths that does not join") {
    plan.paths.push_back(path("other", 1, 1, 2));
    CHECK_THROWS_WITH(finish(plan), Catch::Contains("forward does not join"));
  }
  SECTION("more threads than the host has") {
    plan.paths[0].threads = 3;
    CHECK_THROWS_WITH(finish(plan), Catch::Contains("path of sum"));
  }
  SECTION("a stage number that is out of range") {
    plan.stages[1].below = 77;
    CHECK_THROWS_AS(finish(plan), base::ConfigError);
  }
}
