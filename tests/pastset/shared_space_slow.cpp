// SPDX-License-Identifier: Apache-2.0
// tests/pastset/shared_space_slow.cpp — more kills of processes that share a space.
#include <cstdlib>

#include "tests/pastset/shared_kills.hpp"

TEST_CASE("shared space: many processes killed at any moment block no others") {
  const char* const wanted = std::getenv("PATHS_KILLS");
  const int kills = wanted != nullptr ? std::atoi(wanted) : 400;
  for (std::uint64_t seed = 2; seed < 6; ++seed)
    shared_space_scene::kill_again_and_again(kills / 4, seed);
}
