// SPDX-License-Identifier: Apache-2.0
// tests/paths/thread_settings_test.cpp — settings of threads in configs: stack size, waiting and
// shared memory.
#include <catch2/catch.hpp>
#include <string>

#include "tests/support/read_config.hpp"

namespace {

using namespace test_support;
using paths::Plan;

const std::string config =
    "clusters:\n  alpha: {hosts: 1, threads: 2}\n"
    "collectives:\n  sum: {operation: sum, template: i64}\n";

paths::Overrides stack(const std::string& size) { return given(&paths::Overrides::stack, size); }

}  // namespace

TEST_CASE("thread settings: a value other than the default is part of the plan and its print") {
  const std::string line = GENERATE(as<std::string>(), "stack: 2MiB\n", "waiting: sleep\n",
                                    "shared_memory: false\n", "shared_memory: true\n");
  const Plan plan = read_config(config + line);
  CHECK(plan.stack_bytes == (line == "stack: 2MiB\n" ? 2u << 20 : 0));
  CHECK((plan.waiting == runtime::Waiting::sleep) == (line == "waiting: sleep\n"));
  CHECK(plan.shared_memory == (line != "shared_memory: false\n"));
  CHECK(plan.requires_shared_memory == (line == "shared_memory: true\n"));
  const std::string low_level = low_level_of(plan);
  CHECK_THAT(low_level, Catch::Contains(line));
  const Plan again = read_config(low_level);
  CHECK(again.stack_bytes == plan.stack_bytes);
  CHECK(again.waiting == plan.waiting);
  CHECK(again.shared_memory == plan.shared_memory);
  CHECK(again.digest == plan.digest);
}

TEST_CASE("thread settings: a config with the defaults is the same plan as one without the keys") {
  const Plan plan = read_config(config + "waiting: adaptive\n");
  CHECK(plan.waiting == runtime::Waiting::adaptive);
  CHECK(plan.stack_bytes == 0);
  CHECK_FALSE(plan.requires_shared_memory);
  CHECK(plan.digest == read_config(config).digest);
  for (const char* key : {"waiting", "stack", "shared_memory"})
    CHECK_THAT(low_level_of(plan), !Catch::Contains(key));
}

TEST_CASE("thread settings: --stack overrides the config's key at either level") {
  CHECK(read_config(config + "stack: 2MiB\n", stack("1MiB")).stack_bytes == 1u << 20);
  const std::string low_level = low_level_of(read_config(config));
  CHECK(read_config(low_level, stack("1MiB")).stack_bytes == 1u << 20);
}

TEST_CASE("thread settings: an invalid value is refused with its position") {
  CHECK_THAT(config_error(config + "waiting: spin\n"),
             Catch::Contains("test.yaml:5:10: waiting: "));
  const std::string range = "expected a size from 64KiB to 64GiB, found ";
  CHECK_THAT(config_error(config + "stack: 63KiB\n"),
             Catch::Contains("test.yaml:5:8: stack: " + range + "'63KiB'"));
  CHECK_THAT(config_error(config + "stack: 65GiB\n"), Catch::Contains(range));
  CHECK_THAT(config_error(config + "stack: 8\n"), Catch::Contains(range + "'8'"));
  CHECK_THAT(config_error(config + "stack: [8MiB]\n"), Catch::Contains(range + "a list"));
  CHECK_THAT(config_error(config + "stack: ~\n"), Catch::Contains(range));
  CHECK_THAT(config_error(config, stack("lots")),
             Catch::Contains("command line: --stack: " + range + "'lots'"));
  CHECK_THAT(config_error(config, stack("0")), Catch::Contains(range + "'0'"));
  CHECK_THAT(config_error(config + "stak: 8MiB\n"), Catch::Contains("did you mean 'stack'?"));
}
