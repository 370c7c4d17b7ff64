// SPDX-License-Identifier: Apache-2.0
// tests/groups/tuples_real.cpp — tuples of shared memory as inputs and outputs of groups.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <stdexcept>

#include "groups/group.hpp"
#include "pastset/shared/space.hpp"
#include "pastset/tuple.hpp"
#include "tests/support/sim.hpp"

TEST_CASE("groups: small and large tuples of shared elements are inputs and outputs") {
  const test_support::Sim sim(
      "clusters: {a: {hosts: 2, threads: 2, network: {latency: 50us, bandwidth: "
      "1Gbit}}}\nlanes:\n");
  sim.run_well(
      [](paths::Thread& thread) {
        groups::Group world(thread);
        const auto space = pastset::SharedSpace::make(
            fmt::format("groups-{}-{}", getpid(), world.rank()), {.bytes = 64 << 20});
        for (const std::size_t count : {1, 5, 200'000}) {
          const auto any =
              space->enter(fmt::format("any of {}", count), *pastset::Template::parse("f64[]"),
                           {.keep_newest = 2}, {.arena_bytes = 8 << 20});
          const auto fixed = space->enter(fmt::format("{} of them", count),
                                          *pastset::Template::parse(fmt::format("f64[{}]", count)),
                                          {.keep_newest = 2}, {.arena_bytes = 8 << 20});
          fixed->move(base::Payload::of(std::vector<double>(count, world.rank())));
          world.run(groups::allreduce(groups::newest(*fixed), groups::into(*any, count), "sum"));
          groups::Started started =
              world.start(groups::allreduce(groups::newest(*any), groups::into(*fixed), "sum"));
          started.wait();
          const auto sums = pastset::TupleReader(fixed->tuple_template(), fixed->newest().payload)
                                .get_array<double>(0);
          // Catch2 assertions are not thread-safe.
          if (sums != std::vector<double>(count, 24) || fixed->last() != 2)
            throw std::runtime_error(fmt::format("{} came out wrong", count));
        }
      },
      runtime::ClockKind::steady);
}
