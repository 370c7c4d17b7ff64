// SPDX-License-Identifier: Apache-2.0
// tests/groups/processes_real.cpp — groups whose hosts are processes, which may be killed.
#include <catch2/catch.hpp>

#include "tests/groups/random_operations.hpp"

TEST_CASE("groups: random operations between processes come to what they should") {
  for (std::uint64_t seed = 30'001; seed <= 30'005; ++seed)
    test_support::try_between_processes(seed, 10);
}

TEST_CASE("groups: a host that is killed is named to all, and groups without it go on") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) test_support::try_to_kill(seed);
}
