// SPDX-License-Identifier: Apache-2.0
// tests/paths/stack_config_test.cpp — stack size of threads in configs.
#include <catch2/catch.hpp>
#include <string>

#include "paths/config/config.hpp"
#include "paths/plan/print_plan.hpp"
#include "wrappers/all.hpp"

namespace {

const std::string config =
    "clusters:\n  alpha: {hosts: 1, threads: 2}\n"
    "collectives:\n  sum: {operation: sum, template: i64}\n";

paths::Plan plan_of(const std::string& text, const paths::Overrides& overrides = {}) {
  return paths::read_plan(base::parse_settings(text, "test"), wrappers::all_kinds(), overrides);
}

paths::Overrides stack(const std::string& size) {
  paths::Overrides overrides;
  overrides.stack = size;
  return overrides;
}

}  // namespace

TEST_CASE("stack: the config's key is part of the plan and its print") {
  const paths::Plan plan = plan_of(config + "stack: 2MiB\n");
  CHECK(plan.stack_bytes == 2u << 20);
  const std::string low_level = paths::print_plan(plan, wrappers::all_kinds());
  CHECK_THAT(low_level, Catch::Contains("stack: 2MiB\n"));
  const paths::Plan again = plan_of(low_level);
  CHECK(again.stack_bytes == plan.stack_bytes);
  CHECK(again.digest == plan.digest);
}

TEST_CASE("stack: a config without the key is the same plan as before") {
  const paths::Plan plan = plan_of(config);
  CHECK(plan.stack_bytes == 0);
  CHECK_THAT(paths::print_plan(plan, wrappers::all_kinds()), !Catch::Contains("stack"));
}

TEST_CASE("stack: --stack overrides the config's key at either level") {
  CHECK(plan_of(config + "stack: 2MiB\n", stack("1MiB")).stack_bytes == 1u << 20);
  const std::string low_level = paths::print_plan(plan_of(config), wrappers::all_kinds());
  CHECK(plan_of(low_level, stack("1MiB")).stack_bytes == 1u << 20);
}

TEST_CASE("stack: an invalid size is refused with its position") {
  const std::string range = "expected a size from 64KiB to 64GiB, found ";
  CHECK_THROWS_WITH(plan_of(config + "stack: 63KiB\n"),
                    Catch::Contains("test:5:8: stack: " + range + "'63KiB'"));
  CHECK_THROWS_WITH(plan_of(config + "stack: 65GiB\n"), Catch::Contains(range));
  CHECK_THROWS_WITH(plan_of(config + "stack: 8\n"), Catch::Contains(range + "'8'"));
  CHECK_THROWS_WITH(plan_of(config + "stack: [8MiB]\n"), Catch::Contains(range + "a list"));
  CHECK_THROWS_WITH(plan_of(config + "stack: ~\n"), Catch::Contains(range));
  CHECK_THROWS_WITH(plan_of(config, stack("lots")),
                    Catch::Contains("command line: --stack: " + range + "'lots'"));
  CHECK_THROWS_WITH(plan_of(config, stack("0")), Catch::Contains(range + "'0'"));
  CHECK_THROWS_WITH(plan_of(config + "stak: 8MiB\n"), Catch::Contains("did you mean 'stack'?"));
}
