// SPDX-License-Identifier: Apache-2.0
// tests/paths/waiting_config_test.cpp — waiting of threads in configs.
#include <catch2/catch.hpp>
#include <string>

#include "paths/config/config.hpp"
#include "paths/plan/print_plan.hpp"
#include "wrappers/all.hpp"

namespace {

const std::string config =
    "clusters:\n  alpha: {hosts: 1, threads: 2}\n"
    "collectives:\n  sum: {operation: sum, template: i64}\n";

paths::Plan plan_of(const std::string& text) {
  return paths::read_plan(base::parse_settings(text, "test"), wrappers::all_kinds());
}

}  // namespace

TEST_CASE("waiting: the word sleep is part of the plan and its print") {
  const paths::Plan plan = plan_of(config + "waiting: sleep\n");
  CHECK(plan.waiting == runtime::Waiting::sleep);
  const std::string low_level = paths::print_plan(plan, wrappers::all_kinds());
  CHECK_THAT(low_level, Catch::Contains("waiting: sleep\n"));
  const paths::Plan again = plan_of(low_level);
  CHECK(again.waiting == plan.waiting);
  CHECK(again.digest == plan.digest);
}

TEST_CASE("waiting: a config with the default is the same plan as before") {
  const paths::Plan plan = plan_of(config + "waiting: adaptive\n");
  CHECK(plan.waiting == runtime::Waiting::adaptive);
  CHECK(plan.digest == plan_of(config).digest);
  CHECK_THAT(paths::print_plan(plan, wrappers::all_kinds()), !Catch::Contains("waiting"));
}

TEST_CASE("waiting: an unknown word is refused with its position") {
  CHECK_THROWS_WITH(plan_of(config + "waiting: spin\n"), Catch::Contains("test:5:10: waiting: "));
}

TEST_CASE("shared memory: the value false is part of the plan and its print") {
  const paths::Plan plan = plan_of(config + "shared_memory: false\n");
  CHECK_FALSE(plan.shared_memory);
  const std::string low_level = paths::print_plan(plan, wrappers::all_kinds());
  CHECK_THAT(low_level, Catch::Contains("shared_memory: false\n"));
  const paths::Plan again = plan_of(low_level);
  CHECK_FALSE(again.shared_memory);
  CHECK(again.digest == plan.digest);
}

TEST_CASE("shared memory: the value true is a requirement in the plan and its print") {
  CHECK_FALSE(plan_of(config).requires_shared_memory);
  const paths::Plan plan = plan_of(config + "shared_memory: true\n");
  CHECK(plan.shared_memory);
  CHECK(plan.requires_shared_memory);
  const std::string low_level = paths::print_plan(plan, wrappers::all_kinds());
  CHECK_THAT(low_level, Catch::Contains("shared_memory: true\n"));
  CHECK(plan_of(low_level).digest == plan.digest);
  CHECK_THAT(paths::print_plan(plan_of(config), wrappers::all_kinds()),
             !Catch::Contains("shared_memory"));
}
