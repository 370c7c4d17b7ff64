// SPDX-License-Identifier: Apache-2.0
// tests/groups/mapped_arrays_test.cpp — mapped arrays of groups that cannot map them
#include <catch2/catch.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "base/usage_error.hpp"
#include "tests/groups/members.hpp"

using test_support::Sim;

TEST_CASE("groups: without processes of one machine, mapped arrays are ordinary memory") {
  const std::string config =
      GENERATE(std::string(test_support::six_threads), test_support::one_cluster("hosts: 3"),
               std::string("clusters: {a: {hosts: 1, threads: 2}}\n"));
  const Sim sim(config);
  sim.run_well([](paths::Thread& thread) {
    groups::Group world(thread);
    const auto array = world.mapped_array<std::int64_t>(5'000);
    for (std::int64_t& value : array) {
      if (value != 0) throw std::runtime_error("not zero");
      value = world.rank();
    }
    world.run(groups::allreduce(array, array, "sum"));
    const std::int64_t size = world.size(), sum = size * (size - 1) / 2;
    for (const std::int64_t value : array)
      if (value != sum) throw std::runtime_error("another sum");
    if (world.last_algorithm().starts_with("shared_memory")) throw std::runtime_error("mapped");
    if (world.mapped_array<double>(0).size() != 0) throw std::runtime_error("not empty");
  });
}

TEST_CASE("groups: mapped arrays of wrong sizes are refused on the virtual clock, too") {
  const Sim sim(test_support::one_cluster("hosts: 3"));
  const auto errors = test_support::errors_of_members(sim, [](groups::Group& group) {
    try {
      group.mapped_array<double>(group.rank() == 1 ? 4 : 3);
    } catch (const base::UsageError& error) {
      group.run(groups::barrier());  // the group can still be used
      throw std::runtime_error(error.mistake());
    }
  });
  for (std::size_t rank = 0; rank < errors.size(); ++rank)
    CHECK_THAT(errors[rank],
               Catch::Contains(rank == 1 ? "found 32 bytes here, and 24 to 32 bytes in the group"
                                         : "found 24 bytes here, and 24 to 32 bytes in the group"));
  const auto large = test_support::errors_of_members(
      sim, [](groups::Group& group) { group.mapped_array<double>(std::uint64_t{1} << 60); });
  for (const std::string& error : large)
    CHECK_THAT(error, Catch::Contains("expected at most 137438953472 elements"));
}
