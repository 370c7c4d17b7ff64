// SPDX-License-Identifier: Apache-2.0
// tests/collectives/planner/reference_golden.cpp — text of the reference page that
// describes all algorithms and planners.
#include <catch2/catch.hpp>

#include "collectives/algorithms/reference.hpp"
#include "collectives/planner/planners.hpp"
#include "tests/support/golden.hpp"

TEST_CASE("algorithms: the reference in the documentation equals their descriptions") {
  const std::string found =
      "# Algorithms of collectives\n\n"
      "Written by `paths algorithms`; a test compares it. Sums are those over two clusters of "
      "four\n"
      "hosts with default parameters; [collectives.md](../explanation/collectives.md) explains "
      "their "
      "orders.\n\n" +
      collectives::algorithm_reference() +
      "# Planners\n\nFor allgathers over a network that is known, see "
      "[planning.md](../explanation/planning.md).\n\n" +
      planning::planner_reference();
  CHECK(found == test_support::golden("../../docs/reference/algorithms.md", found));
}
