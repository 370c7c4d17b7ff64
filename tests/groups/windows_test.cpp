// SPDX-License-Identifier: Apache-2.0
// tests/groups/windows_test.cpp — refusal of windows and parameters with which a schedule could not
// begin or could not end.
#include <catch2/catch.hpp>

#include "base/usage_error.hpp"
#include "tests/groups/members.hpp"

namespace {

using namespace test_support;

/// Returns a program whose hosts accept only messages that they have granted.
Sim hosts(std::size_t count) {
  return Sim(fmt::format("clusters: {{a: {{hosts: {}}}}}\nlanes: {{inbox: 0B}}\n", count));
}

/// Checks that the call fails on every member with a UsageError whose message ends with `why`.
void check_refused(const Sim& sim, const std::function<groups::Call(Values&, Values&)>& make,
                   const std::string& why) {
  std::size_t refused = 0;
  sim.run_well([&](paths::Thread& thread) {
    groups::Group world(thread);
    Values in(8), out(8);
    try {
      world.run(make(in, out));
    } catch (const base::UsageError& error) {
      CHECK_THAT(error.what(), Catch::EndsWith(why));
      ++refused;
    }
  });
  CHECK(refused == sim.plan().thread_count());
}

}  // namespace

TEST_CASE("groups: a window below the least one is refused and the error names the least one") {
  const Sim sim = hosts(4);
  check_refused(
      sim,
      [](Values& in, Values& out) {
        groups::Call call = groups::by("recursive_doubling", groups::allreduce(in, out, "sum"));
        call.window = 1;
        return call;
      },
      "expected a window of 2 unfinished steps or more, found 1");
  sim.run_well([&](paths::Thread& thread) {
    groups::Group world(thread);
    sum_ranks(world, 8, "recursive_doubling", 2);
  });
}

TEST_CASE("groups: a window below the least one without credit works if inboxes have room") {
  const Sim sim("clusters: {a: {hosts: 4}}\nlanes:\n");
  sim.run_well([&](paths::Thread& thread) {
    groups::Group world(thread);
    sum_ranks(world, 8, "recursive_doubling", 1);
    CHECK_THROWS_AS(sum_ranks(world, 8, "recursive_doubling", 1, 1),
                    base::UsageError);  // with one receiving port each message needs a grant
  });
}

TEST_CASE("groups: a window of one with one receiving port is refused also for the best schedule") {
  const Sim sim = hosts(4);
  std::size_t refused = 0;
  for (const collectives::Collective collective : collectives::all_collectives) {
    if (collective == collectives::Collective::barrier) continue;
    INFO(name_of(collective));
    sim.run_well([&](paths::Thread& thread) {
      groups::Group world(thread);
      Values in(4), out(16);
      groups::Call call = groups::call_of(collective, in, out);
      using collectives::Collective;
      if (collective != Collective::gather && collective != Collective::allgather)
        call.out = call.out.first(32);
      if (collective == Collective::reduce_scatter || collective == Collective::scatter)
        call.out = call.out.first(8);
      if (is_reduction(collective)) call.operation = "sum";
      call.window = 1;
      call.ports.receiving = 1;
      try {
        world.run(call);
      } catch (const base::UsageError& error) {
        CHECK_THAT(error.what(), Catch::Contains("unfinished steps or more, found 1"));
        ++refused;
      }
    });
  }
  CHECK(refused > 0);
}

TEST_CASE("groups: a refused algorithm names the parameter that would make it suitable") {
  const Sim five = hosts(5);
  const auto by = [](const std::string& name) {
    return [name](Values& in, Values& out) {
      return groups::by(name, groups::allreduce(in, out, "sum"));
    };
  };
  check_refused(
      five,
      [](Values& in, Values&) { return groups::by("van_de_geijn", groups::broadcast(in, 0)); },
      "doubling needs as many participants as a power of two, not 5; try "
      "van_de_geijn:allgather=ring");
  check_refused(five, by("rabenseifner"),
                "not 5; try rabenseifner:reduce_scatter=ring,allgather=ring");
  check_refused(five, by("rabenseifner:reduce_scatter=direct"), "not 5; try allgather=ring");
  check_refused(five, by("gather_operate:allgather=doubling"), "not 5; try allgather=ring");
  check_refused(five, by("two_tier"), "0 has 5; try two_tier:reduce_scatter=ring,allgather=ring");
}

TEST_CASE("groups: a schedule with one message per element of a large vector is refused") {
  const Sim sim = hosts(2);
  std::size_t refused = 0;
  sim.run_well([&](paths::Thread& thread) {
    groups::Group world(thread);
    Values large(100'003);
    try {
      world.run(groups::by("multilevel:shapes=chain,segment=1", groups::broadcast(large, 0)));
    } catch (const base::UsageError& error) {
      CHECK_THAT(error.what(),
                 Catch::EndsWith("segment 1 cuts 100003 elements into 100003 messages; expected at "
                                 "most 65536, so segment 0 or at least 2"));
      ++refused;
    }
  });
  CHECK(refused == 2);
}
