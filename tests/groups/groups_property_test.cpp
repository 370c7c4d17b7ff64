// SPDX-License-Identifier: Apache-2.0
// tests/groups/groups_property_test.cpp — results of random operations of groups.
#include <catch2/catch.hpp>

#include "tests/groups/random_operations.hpp"
#include "tests/support/environment.hpp"

TEST_CASE("groups: random operations, several at a time, have correct results", "[without_tsan]") {
  using test_support::from_environment;
  const std::uint64_t first = from_environment("PATHS_SEED", 1);
  const std::uint64_t end = first + from_environment("PATHS_SEEDS", test_support::or_fewer(60));
  for (std::uint64_t seed = first; seed < end; ++seed)
    test_support::try_operations(seed, runtime::ClockKind::virtual_time, 8);
}

TEST_CASE("groups: on the steady clock random operations have correct results") {
  for (std::uint64_t seed = 1001; seed <= 1006; ++seed)
    test_support::try_operations(seed, runtime::ClockKind::steady, 8);
}
