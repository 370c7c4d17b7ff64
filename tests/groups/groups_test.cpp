// SPDX-License-Identifier: Apache-2.0
// tests/groups/groups_test.cpp — errors of groups, and the members that receive them.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/usage_error.hpp"
#include "paths/host/host.hpp"
#include "tests/groups/members.hpp"
#include "tests/groups/random_operations.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/thrown.hpp"

namespace {

using collectives::Collective;
using namespace test_support;
using namespace std::chrono_literals;

constexpr std::uint32_t members = 6;

std::vector<std::string> endings(const std::function<void(groups::Group&)>& use) {
  return errors_of_members(Sim(six_threads), use);
}

}  // namespace

TEST_CASE("groups: different calls of members are an error for all and none waits forever") {
  const auto differ = [](std::uint32_t who, const groups::Call& other) {
    return [=](groups::Group& world) {
      sum_ranks(world);
      Values in(8), out(8 * members);
      groups::Call call = groups::allreduce(in, std::span(out).first(8), "sum");
      if (world.rank() == who) {
        call.collective = other.collective;
        call.root = other.root;
        if (!other.operation.empty()) call.operation = other.operation;
        if (!other.in.empty()) call.in = call.in.first(8), call.out = call.out.first(8);
      }
      world.run(call);
      sum_ranks(world);
    };
  };
  static const std::byte some[1] = {};
  groups::Call max;
  max.collective = Collective::allreduce;
  max.operation = "max";
  groups::Call shorter;
  shorter.collective = Collective::allreduce;
  shorter.in = some;
  groups::Call scan;
  scan.collective = Collective::scan;
  // Thread 1 shares its host with another member. Thread 4 shares its host with no member.
  for (const std::uint32_t who : {1, 4})
    for (const groups::Call& other : {max, shorter, scan}) {
      const auto all = endings(differ(who, other));
      for (const std::string& one : all) CHECK(one != "");
      for (const std::string& one : all) CHECK(one != "did not come");
    }
  // The error of a member also names the calls that other members of its host made.
  const std::string told = endings(differ(1, max))[1];
  CHECK_THAT(told, Catch::Contains("thread alpha-0/1 calls 'allreduce max i64, 8 by best'"));
  CHECK_THAT(told, Catch::Contains("thread alpha-0/0 calls 'allreduce sum i64, 8 by best'"));
}

TEST_CASE("groups: different calls of hosts are an error that gives each host its own call") {
  const auto all = endings([](groups::Group& world) {
    sum_ranks(world);
    Values in(world.rank() == 5 ? 3 : 2), out(in.size());
    world.run(groups::allreduce(in, out, "sum"));
  });
  CHECK_THAT(all[5], Catch::Contains("in operation 1 of group world thread beta-1/0 calls "
                                     "'allreduce sum i64, 3 by best'"));
  CHECK_THAT(all[4], Catch::Contains("in operation 1 of group world thread beta-0/0 calls "
                                     "'allreduce sum i64, 2 by best'"));
}

TEST_CASE("groups: differences in the last operation are reported at the latest at the end") {
  const Sim sim("deadline: 20s\nclusters: {a: {hosts: 3, threads: 2}}\nlanes:\n");
  const auto failures_of = [&](std::uint32_t who, bool is_late, auto&& differently,
                               runtime::ClockKind clock) {
    const SimResult result = sim.run(
        [&](paths::Thread& thread) {
          groups::Group world(thread);
          world.run(groups::barrier());
          if (is_late) thread.sleep_for(10ms);
          Values four(4);
          const bool is_other = thread.host().name() == sim.plan().hosts[who].name;
          is_other ? differently(world) : world.run(groups::broadcast(four, 0));
        },
        clock);
    CHECK(result.broke == "");
    return result.failures;
  };
  const auto none = [](groups::Group& world) {
    Values empty;
    world.run(groups::broadcast(empty, 0));
  };
  const auto left = [](groups::Group&) {};
  const auto said = [](const std::vector<std::string>& failures, const std::string& what) {
    return std::any_of(failures.begin(), failures.end(), [&](const std::string& failure) {
      return failure.find(what) != std::string::npos;
    });
  };
  for (const auto clock : {runtime::ClockKind::virtual_time, runtime::ClockKind::steady})
    for (const std::uint32_t who : {0, 1, 2})
      for (const bool is_late : {false, true}) {
        INFO("host " << who << (is_late ? ", late" : ""));
        const std::string name = "host " + sim.plan().hosts[who].name;
        const auto all = failures_of(who, is_late, none, clock);
        INFO(fmt::format("{}", fmt::join(all, "\n")));
        CHECK(said(all, name));
        CHECK(said(all, "'broadcast i64 from 0, 0 by best'"));
        CHECK(said(failures_of(who, is_late, left, clock), name));
      }
}

TEST_CASE("groups: a failing member fails the others' operations and is named") {
  const auto all = endings([](groups::Group& world) {
    sum_ranks(world);
    if (world.rank() == 3) throw std::runtime_error("its own fault");
    sum_ranks(world);
  });
  CHECK(all[3] == "its own fault");
  for (std::uint32_t rank = 0; rank < members; ++rank)
    if (rank != 3)
      CHECK_THAT(all[rank], Catch::Contains("thread alpha-1/1 has failed") ||
                                Catch::Contains("thread alpha-1/1 has left"));
}

TEST_CASE("groups: a member that fails because of an error in another group reports that") {
  std::array<std::string, 3> told;
  Sim(six_threads).run([&](paths::Thread& thread) {
    const std::uint32_t rank = thread.rank();
    if (rank > 3) return;
    groups::Group world(thread, "four", std::vector<std::uint32_t>{0, 1, 2, 3});
    const auto pairs = world.split(rank / 2);  // ranks 0 and 1, and ranks 2 and 3
    const auto between = world.split(rank == 1 || rank == 2 ? 0 : 1);
    try {
      if (rank == 3) throw std::runtime_error("its own fault");
      (rank == 1 ? between : pairs)->run(groups::barrier());
      if (rank == 1) pairs->run(groups::barrier());
    } catch (const std::exception& error) {
      if (rank < 3) told[rank] = error.what();
      throw;
    }
  });
  CHECK_THAT(told[2], Catch::Contains("thread alpha-1/1 has failed"));
  CHECK_THAT(told[1], Catch::Contains("thread alpha-1/0 has failed; it received the error: thread "
                                      "alpha-1/1 has failed"));
  CHECK_THAT(told[0], Catch::Contains("thread alpha-0/1 has failed; it received the error: thread "
                                      "alpha-1/1 has failed"));
}

TEST_CASE("groups: NaN fails the operation for all members with the reason") {
  const auto all = endings([](groups::Group& world) {
    std::vector<double> in{1.0, world.rank() == 5 ? std::nan("") : 2.0}, out(2);
    world.run(groups::allreduce(in, out, "sum"));
  });
  check_all_contain(all, "NaN");
}

TEST_CASE("groups: invalid calls are refused before any message is sent and the group continues") {
  Sim(six_threads).run_well([](paths::Thread& thread) {
    groups::Group world(thread);
    Values in(4), out(4), all(4 * members);
    const auto refused = [&](const groups::Call& call, const std::string& why) {
      CHECK_THROWS_WITH(world.run(call), Catch::Contains(why));
      CHECK_THROWS_AS(world.start(call), base::UsageError);
    };
    CHECK_THROWS_WITH(groups::Group(thread), Catch::Contains("is in it already"));
    CHECK_THROWS_WITH(groups::Group(thread, "others", {world.rank() + 1}),
                      Catch::Contains("is not in it"));
    CHECK_THROWS_WITH(groups::Group(thread, "none", {world.rank(), 77}),
                      Catch::Contains("none of number 77"));
    refused(groups::broadcast(in, members), "expected a root below 6, found 6");
    refused(groups::allreduce(in, all, "sum"), "expected 4 elements in `out`, found 24");
    refused(groups::allgather(in, out), "expected 24 elements in `out`, found 4");
    // A call without values is an error; it is not ignored.
    const Values nothing;
    refused(groups::allreduce(nothing, out, "sum"), "expected 0 elements in `out`, found 4");
    refused(groups::allgather(nothing, all), "expected 0 elements in `out`, found 24");
    refused(groups::alltoall(in, out), "expected 6 elements in `in`, found 4");
    refused(groups::reduce_scatter(in, std::span(out).first(0), "sum"),
            "expected 0 elements in `in`, found 4");
    refused(groups::allgather(in, std::span(all).first(4), {0, 0, 0, 0, 0, 0}),
            "expected 0 elements in `in`, found 4");
    refused(groups::allgather(in, all, {1, 2}), "expected 1 or 6 counts, found 2");
    refused(groups::allreduce(in, out, "summ"), "did you mean 'sum'?");
    refused(groups::allreduce(std::vector<double>(4), std::vector<double>(4), "bitwise_or"),
            "'bitwise_or' does not take f64");
    refused(groups::allreduce(std::span(all).first(4), std::span(all).subspan(2, 4), "sum"),
            "overlap");
    refused(groups::by("strechted", groups::allreduce(in, out, "sum")), "stretched");
    refused(groups::by("bruck", groups::allreduce(in, out, "sum")), "bruck");
    sum_ranks(world);
  });
}

TEST_CASE(
    "groups: a write to an array lent by another thread of the host is an error that names both") {
  const auto lend = [](std::size_t in_0, std::size_t out_0, std::size_t in_1, std::size_t out_1) {
    Values arrays(100, 7);
    const Values before = arrays;
    const auto all = endings([&](groups::Group& world) {
      const auto at = [&](std::size_t begin) { return std::span(arrays).subspan(begin, 8); };
      Values out(8);
      if (world.rank() == 0) return world.run(groups::allreduce(at(in_0), at(out_0), "sum"));
      if (world.rank() == 1) return world.run(groups::allreduce(at(in_1), at(out_1), "sum"));
      world.run(groups::allreduce(Values(8, 7), out, "sum"));
    });
    CHECK((all.front() == "" || arrays == before));
    return all;
  };
  check_all_contain(lend(0, 20, 40, 27),
                    "`out` of thread alpha-0/0 overlaps `out` of thread "
                    "alpha-0/1; expected what a member writes apart");
  check_all_contain(lend(0, 20, 40, 20), "operation 0 of group world, allreduce: `out` of thread");
  check_all_contain(lend(0, 20, 13, 60), "`in` of thread alpha-0/1 overlaps `out` of thread");
  check_all_contain(lend(0, 0, 7, 60), "`out` of thread alpha-0/0 overlaps `in` of thread");
  check_all_contain(lend(0, 20, 60, 0), "overlaps");
  Values arrays(8 * members, 7);
  const auto reduced = endings([&](groups::Group& world) {
    const auto mine = std::span(arrays).subspan(8 * world.rank() - (world.rank() == 1), 8);
    world.run(groups::reduce(mine, mine.first(world.rank() == 0 ? 8 : 0), "sum", 0));
  });
  check_all_contain(reduced, "`out` of thread alpha-0/0 overlaps `in` of thread alpha-0/1");
  CHECK(lend(0, 20, 40, 28) == std::vector<std::string>(members));  // adjacent memory
  CHECK(lend(0, 20, 3, 40) == std::vector<std::string>(members));   // only the two inputs overlap
  // The output of each member is also the input of this member.
  CHECK(lend(0, 0, 8, 8) == std::vector<std::string>(members));
}

TEST_CASE("groups: a failed group is unusable and other groups continue") {
  Sim(six_threads).run_well([](paths::Thread& thread) {
    groups::Group world(thread), second(thread, "second");
    Values in(8), out(8);
    groups::Call call = groups::allreduce(in, out, world.rank() == 2 ? "max" : "sum");
    CHECK_THROWS(world.run(call));
    CHECK_THROWS_AS(world.run(groups::barrier()), paths::TravelError);
    sum_ranks(second);
  });
}

TEST_CASE("groups: a destroyed group can be made again whichever thread of a host is last") {
  Sim(six_threads).run_well([](paths::Thread& thread) {
    for (std::uint32_t i = 0; i < 20; ++i) {
      groups::Group world(thread);
      sum_ranks(world);
      // Some threads destroy their group later than the other threads.
      if ((i + thread.rank()) % 3 == 0) thread.sleep_for(1ms);
    }
  });
}

TEST_CASE(
    "groups: making a group again that another thread still holds is an error that names it") {
  Sim(six_threads + "deadline: 3s\n").run_well([](paths::Thread& thread) {
    auto kept = std::make_unique<groups::Group>(thread, "kept");
    if (thread.rank() == 1) {
      kept.reset();
      CHECK_THROWS_WITH(
          groups::Group(thread, "kept"),
          Catch::Contains("thread alpha-0/0 has not left it before the deadline of 3s"));
    }
    thread.sleep_for(10s);
  });
}

TEST_CASE("groups: started operations continue after their group is destroyed") {
  Sim(six_threads).run_well([](paths::Thread& thread) {
    for (int i = 0; i < 3; ++i) {
      const Values in(1000, 1);
      Values out(1000);
      groups::Started started;
      {
        groups::Group world(thread);
        started = world.start(groups::allreduce(in, out, "sum"));
      }
      groups::Group again(thread);
      sum_ranks(again);
      started.wait();
      CHECK(out == Values(1000, members));
    }
  });
}

TEST_CASE("groups: members of one colour form a separate group") {
  Sim(six_threads).run_well([](paths::Thread& thread) {
    groups::Group world(thread);
    const auto half = world.split(world.rank() % 2);
    CHECK(half->size() == 3);
    CHECK(half->rank() == world.rank() / 2);
    sum_ranks(*half);
    const auto one = half->split(half->rank());
    CHECK(one->size() == 1);
    sum_ranks(*one);
    sum_ranks(world);
  });
}

TEST_CASE("groups: parts of a group made again do not conflict with those of the first") {
  Sim(six_threads).run_well([](paths::Thread& thread) {
    std::vector<std::unique_ptr<groups::Group>> parts;
    for (std::int64_t i = 0; i < 3; ++i) {
      groups::Group world(thread);
      parts.push_back(world.split(world.rank() % 2));
      if (world.rank() > 0) parts.push_back(parts.back()->split(0));
      if (world.rank() == 0) parts.push_back(parts.back()->split(0, i));
    }
    for (const auto& part : parts) sum_ranks(*part);
  });
}

TEST_CASE("groups: each group selects its own schedule whatever other groups share its hosts") {
  Sim(six_threads).run_well([](paths::Thread& thread) {
    groups::Group world(thread);
    const Values mine(2, world.rank());
    Values all(2 * members);
    world.run(groups::allgather(mine, all));
    // All members of `first` are on one host.
    const auto first = world.split(thread.index());
    all.resize(2 * first->size());
    first->run(groups::allgather(mine, all));
    CHECK(all[2 * first->rank()] == world.rank());
  });
}

TEST_CASE("groups: members of a split are ranked by key and then by previous rank") {
  Sim(six_threads).run_well([](paths::Thread& thread) {
    groups::Group world(thread);
    const auto reversed = world.split(0, -std::int64_t{world.rank()});
    CHECK(reversed->rank() == members - 1 - world.rank());
    const auto same = reversed->split(3, 7);
    CHECK(same->rank() == reversed->rank());
    Values in(1), out(1);
    CHECK_THROWS_WITH(reversed->run(groups::by("chain_scan", groups::scan(in, out, "sum"))),
                      Catch::Contains("scan of these members is allgather between hosts; ") &&
                          Catch::Contains("chain_scan"));
    // In the new group, the members with even ranks come first.
    const auto by_parity = world.split(1, world.rank() % 2);
    CHECK(by_parity->rank() == world.rank() / 2 + world.rank() % 2 * members / 2);
    for (groups::Group* group : {reversed.get(), same.get(), by_parity.get()}) {
      sum_ranks(*group);
      const Values mine{group->rank()};
      Values all(members), up_to(1), block(1), from_all(members);
      group->run(groups::allgather(mine, all));
      CHECK(all == Values{0, 1, 2, 3, 4, 5});
      group->run(groups::scan(mine, up_to, "sum"));
      CHECK(up_to[0] == mine[0] * (mine[0] + 1) / 2);
      group->run(groups::scatter(all, block, 2));
      CHECK(block == mine);
      group->run(groups::alltoall(all, from_all));
      CHECK(from_all == Values(members, mine[0]));
    }
  });
}

TEST_CASE(
    "groups: a member without a colour is in no part of a split and colours are not negative") {
  Sim(six_threads).run_well([](paths::Thread& thread) {
    groups::Group world(thread);
    CHECK_THROWS_WITH(world.split(-1), Catch::Contains("expected a colour of 0 or more, or none"));
    const bool is_in = world.rank() != 1;
    const auto others = world.split(is_in ? std::optional(4) : std::nullopt);
    CHECK((others != nullptr) == is_in);
    if (others) sum_ranks(*others);
    CHECK(world.split(std::nullopt) == nullptr);
    // Each split gives the new groups new names, even if their members are the same as before.
    const auto all = world.split(4);
    CHECK(all->size() == members);
    sum_ranks(*all);
  });
}

TEST_CASE(
    "groups: threads may be in any order without repeats if all members give the same order") {
  Sim(six_threads).run_well([](paths::Thread& thread) {
    const std::vector<std::uint32_t> order{4, 0, 5, 2, 1, 3};
    groups::Group group(thread, "mixed", order);
    CHECK(order[group.rank()] == thread.rank());
    const Values mine{thread.rank()};
    Values all(members);
    group.run(groups::allgather(mine, all));
    CHECK(all == Values(order.begin(), order.end()));
    CHECK_THROWS_WITH(groups::Group(thread, "twice", {0, 1, 2, 3, 4, 5, 2}),
                      Catch::Contains("has number 2 twice"));
  });
}

TEST_CASE("groups: different orders on hosts are an error and give no wrong result") {
  int told = 0;
  const SimResult result = Sim(six_threads).run([&](paths::Thread& thread) {
    if (thread.rank() < 4) return;
    const bool is_first = thread.rank() == 4;
    groups::Group pair(thread, "pair", {is_first ? 4u : 5u, is_first ? 5u : 4u});
    const Values mine{thread.rank()};
    Values both(2);
    CHECK_THAT(thrown<paths::TravelError>([&] { pair.run(groups::allgather(mine, both)); }),
               Catch::Contains("group pair"));
    ++told;
  });
  CHECK(result.broke == "");
  CHECK(told == 2);
}

TEST_CASE("groups: a started operation proceeds while its member computes") {
  base::Nanos alone{0}, together{0};
  const auto measure = [&](bool computes, base::Nanos& time) {
    Sim(one_cluster("hosts: 2")).run_well([&](paths::Thread& thread) {
      groups::Group world(thread);
      std::vector<double> in(1 << 20, 1.0), out(1 << 20);
      groups::Started started = world.start(groups::allreduce(in, out, "sum"));
      if (computes) thread.sleep_for(700ms);
      started.wait();
      CHECK(out.back() == 2.0);
      time = std::max(time, thread.now());
    });
  };
  measure(false, alone);
  measure(true, together);
  CHECK(alone > 600ms);
  CHECK(together == std::max(alone, base::Nanos(700ms)));
}

TEST_CASE("groups: a non-commutative operation is folded in the order of ranks") {
  base::ReduceOperation last;
  last.name = "last_of_test";
  last.accepts = [](base::Scalar scalar) { return scalar == base::Scalar::i64; };
  last.combine = [](const base::ReduceShape& shape, std::span<std::byte> left,
                    std::span<const std::byte> right) {
    for (std::size_t i = 0; i < shape.count; ++i) {
      std::int64_t value;
      std::memcpy(&value, right.data() + 8 * i, 8);
      if (value != 0) std::memcpy(left.data() + 8 * i, &value, 8);
    }
  };
  base::add_reduce_operation(last);
  Sim(six_threads).run_well([](paths::Thread& thread) {
    groups::Group world(thread);
    for (const std::size_t size : {1, 100, 30'000}) {
      Values in(size), out(size);
      for (std::size_t i = 0; i < size; ++i)
        in[i] = i % members >= world.rank() ? world.rank() + 1 : 0;
      world.run(groups::allreduce(in, out, "last_of_test"));
      for (std::size_t i = 0; i < size; ++i)
        if (out[i] != static_cast<std::int64_t>(i % members + 1)) FAIL("element " << i);
    }
    Values in(1), out(1);
    CHECK_THROWS_AS(world.run(groups::by("rabenseifner:reduce_scatter=ring",
                                         groups::allreduce(in, out, "last_of_test"))),
                    base::UsageError);
  });
}

TEST_CASE("groups: a member that fails at any moment leaves no other member waiting",
          "[without_tsan]") {
  for (std::uint64_t seed = 1; seed <= or_fewer(100); ++seed) try_to_fail(seed);
}
