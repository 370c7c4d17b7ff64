// SPDX-License-Identifier: Apache-2.0
// tests/bench/collective_golden.cpp — what `collective` prints, and what it refuses.
#include <catch2/catch.hpp>
#include <string>

#include "tests/support/shell.hpp"

#if PATHS_HAS_BENCH
namespace {

std::string collective(const std::string& options) {
  return test_support::golden_text(
      "paths run configs/two-by-four.yaml --clock virtual -- collective " + options);
}

void check_golden(const std::string& name, const std::string& said) {
  CHECK(said == test_support::golden(name, said));
}

}  // namespace

TEST_CASE("collective: prints times beside prices and bounds, every value looked at") {
  check_golden("collective.txt",
               collective("broadcast,allreduce,alltoall,barrier -m 1024:1MiB -i 2 --full "
                          "--validation") +
                   collective("allreduce -m 8:8 --schedule tree:shape=binomial"));
}

TEST_CASE("collective: refuses what is wrong, and says what was probably meant") {
  check_golden("collective_mistakes.txt", collective("brodcast") + collective("broadcast -m 9:1") +
                                              collective("broadcast --root-rank 8") +
                                              collective("broadcast --schedule strechted"));
}
#endif
