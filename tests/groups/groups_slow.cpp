// SPDX-License-Identifier: Apache-2.0
// tests/groups/groups_slow.cpp — very many random operations and failures of groups.
#include <catch2/catch.hpp>

#include "tests/groups/random_operations.hpp"
#include "tests/support/environment.hpp"

TEST_CASE("groups: ten thousand random operations have correct results") {
  for (std::uint64_t seed = 10'001; seed <= 11'000; ++seed)
    test_support::try_operations(seed, runtime::ClockKind::virtual_time, 10);
}

TEST_CASE("groups: five hundred random operations have correct results on the steady clock") {
  for (std::uint64_t seed = 20'001; seed <= 20'050; ++seed)
    test_support::try_operations(seed, runtime::ClockKind::steady, 10);
}

// The environment variable PATHS_SEEDS sets the number of runs, PATHS_OPERATIONS the number of
// operations of the whole group in each run.
TEST_CASE("groups: five hundred random operations have correct results between processes") {
  const auto runs = test_support::from_environment("PATHS_SEEDS", 50);
  const auto operations = test_support::from_environment("PATHS_OPERATIONS", 10);
  for (std::uint64_t seed = 30'001; seed <= 30'000 + runs; ++seed)
    test_support::try_between_processes(seed, operations);
}

TEST_CASE("groups: a hundred killed hosts are each named to all other hosts") {
  for (std::uint64_t seed = 101; seed <= 200; ++seed)
    test_support::try_to_kill(seed, seed % 2 == 0);
}

TEST_CASE("groups: a thousand failing members are each reported to all other members") {
  for (std::uint64_t seed = 1001; seed <= 2000; ++seed) test_support::try_to_fail(seed);
}
