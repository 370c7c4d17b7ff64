// SPDX-License-Identifier: Apache-2.0
// tests/pastset/shared_space_slow.cpp — more kills of processes that share a space.
#include "tests/pastset/shared_kills.hpp"
#include "tests/support/environment.hpp"

TEST_CASE("shared space: many processes killed at any moment block no others") {
  const auto kills = static_cast<int>(test_support::from_environment("PATHS_KILLS", 400));
  for (std::uint64_t seed = 2; seed < 6; ++seed)
    shared_space_scene::kill_again_and_again(kills / 4, seed);
}
