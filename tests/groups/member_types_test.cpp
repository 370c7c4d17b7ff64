// SPDX-License-Identifier: Apache-2.0
// tests/groups/member_types_test.cpp — members of a group that disagree about types.
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <string>

#include "groups/group.hpp"
#include "tests/support/sim.hpp"

namespace {

/// What each of two members gets of an operation to which the first gives `First`, the other one
/// `Second`.
template <class First, class Second, class Operate>
std::map<std::uint32_t, std::string> errors_of(const std::string& hosts, Operate operate) {
  const test_support::Sim sim(fmt::format("clusters: {{a: {}}}\nlanes:\n", hosts));
  std::map<std::uint32_t, std::string> errors;
  const test_support::SimResult run = sim.run([&](paths::Thread& thread) {
    groups::Group world(thread);
    try {
      if (world.rank() == 0)
        operate(world, std::array<First, 4>{});
      else
        operate(world, std::array<Second, 4>{});
    } catch (const std::exception& error) {
      errors[world.rank()] = error.what();
    }
  });
  CHECK(run.ended_well());
  return errors;
}

}  // namespace

TEST_CASE("groups: members whose values have one size and different types all get an error") {
  const std::string hosts = GENERATE("{hosts: 1, threads: 2}", "{hosts: 2, threads: 1}");
  const auto check = [&](auto operate) {
    const auto errors = errors_of<double, std::int64_t>(hosts, operate);
    REQUIRE(errors.size() == 2);
    for (const auto& [rank, error] : errors) {
      INFO("rank " << rank << ": " << error);
      CHECK_THAT(error, Catch::Contains(rank == 0 ? "f64, 4" : "i64, 4"));  // what it called
    }
    CHECK(errors_of<double, double>(hosts, operate).empty());
  };
  check([](groups::Group& world, auto values) {
    auto out = values;
    world.run(groups::allreduce(values, out, "sum"));
  });
  check([](groups::Group& world, auto values) {
    std::vector<typename decltype(values)::value_type> out(8);
    world.run(groups::allgather(values, out));
  });
}
