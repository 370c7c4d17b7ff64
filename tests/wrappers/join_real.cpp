// SPDX-License-Identifier: Apache-2.0
// tests/wrappers/join_real.cpp — memory that the rounds of a join between OS threads allocate.
#include <catch2/catch.hpp>
#include <string>

#include "tests/support/allocations.hpp"
#include "tests/support/sim.hpp"

TEST_CASE("join: in one process steady rounds of an allreduce allocate no memory") {
  const std::string threads = GENERATE("1", "2", "8");
  const test_support::Sim sim("clusters: {alpha: {hosts: 1, threads: " + threads +
                              "}}\ncollectives: {sum: {operation: sum, template: f64}}\n");
  constexpr int rounds = 1000;
  // Maximum number of allocations while thread 0 counts. A thread can start the next round while
  // other threads are still in this round. When this happens for the first time, at any time of the
  // run, the join allocates a second round with its slots, entry and futex.
  constexpr std::uint64_t second_round = 6;
  std::uint64_t needed = 0;
  const auto program = [&](paths::Thread& one) {
    paths::Path& path = one.path("sum");
    // A warm-up, whose allocations do not count. While thread 0 counts afterwards, the other
    // threads run rounds, too.
    for (int i = 0; i < rounds; ++i) path.move_value(1.0);
    const std::uint64_t before = test_support::allocations();
    for (int i = 0; i < rounds; ++i) path.move_value(1.0);
    if (one.rank() == 0) needed = test_support::allocations() - before;
    for (int i = 0; i < 10; ++i) path.move_value(1.0);
  };
  sim.run_well(program, runtime::ClockKind::steady);
  CHECK(needed <= second_round);
}
