// SPDX-License-Identifier: Apache-2.0
// tests/groups/groups_slow.cpp — ten thousand random operations of groups.
#include <catch2/catch.hpp>

#include "tests/groups/random_operations.hpp"

TEST_CASE("groups: ten thousand random operations come to what they should") {
  for (std::uint64_t seed = 10'001; seed <= 11'000; ++seed)
    test_support::try_operations(seed, runtime::ClockKind::virtual_time, 10);
}

TEST_CASE("groups: five hundred on the steady clock") {
  for (std::uint64_t seed = 20'001; seed <= 20'050; ++seed)
    test_support::try_operations(seed, runtime::ClockKind::steady, 10);
}

TEST_CASE("groups: five hundred between processes") {
  for (std::uint64_t seed = 30'001; seed <= 30'050; ++seed)
    test_support::try_between_processes(seed, 10);
}

TEST_CASE("groups: a hundred hosts that are killed are named to all others") {
  for (std::uint64_t seed = 101; seed <= 200; ++seed) test_support::try_to_kill(seed);
}

TEST_CASE("groups: a thousand members that fail are told to all others") {
  for (std::uint64_t seed = 1001; seed <= 2000; ++seed) test_support::try_to_fail(seed);
}
