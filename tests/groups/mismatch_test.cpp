// SPDX-License-Identifier: Apache-2.0
// tests/groups/mismatch_test.cpp — members of a group whose calls differ in any way.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/usage_error.hpp"
#include "tests/groups/members.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/thrown.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;
using Calls = std::function<void(groups::Group&)>;

/// Returns the longest duration after which an error must have arrived. This duration is far below
/// the deadline of 60 s.
base::Nanos promptly(runtime::ClockKind clock) {
  return clock == runtime::ClockKind::virtual_time ? 3s : 30s;
}

const std::string three_hosts = "deadline: 60s\nclusters: {a: {hosts: 3}}\nlanes:\n";
const std::string without_credit = "deadline: 60s\nclusters: {a: {hosts: 3}}\nlanes: {inbox: 0B}\n";
const std::string two_clusters =
    "deadline: 60s\n"
    "clusters:\n"
    "  a: {hosts: 2, threads: 2, network: {latency: 50us, bandwidth: 100Mbit}}\n"
    "  b: {hosts: 2, network: {latency: 50us, bandwidth: 100Mbit}}\n"
    "links: {all: {latency: 10ms, bandwidth: 1Gbit}}\n"
    "lanes:\n";

void exchange_with_all(groups::Group& group) {
  const Values in(group.size(), 1);
  Values out(group.size());
  group.run(groups::alltoall(in, out));
}

Calls broadcast_of(std::size_t size, std::uint32_t root = 0) {
  return [=](groups::Group& group) {
    Values values(size);
    group.run(groups::broadcast(values, root));
  };
}

Calls sum_of(std::size_t size, const std::string& operation = "sum",
             const std::string& schedule = "best") {
  return [=](groups::Group& group) {
    const Values in(size, 1);
    Values out(size);
    group.run(groups::by(schedule, groups::allreduce(in, out, operation)));
  };
}

Calls reduce_to(std::uint32_t root, std::size_t size) {
  return [=](groups::Group& group) {
    const Values in(size, 1);
    Values out(size);
    group.run(groups::reduce(in, out, "sum", root));
  };
}

Calls doubles(std::size_t size) {
  return [=](groups::Group& group) {
    const std::vector<double> in(size, 1);
    std::vector<double> out(size);
    group.run(groups::allreduce(in, out, "sum"));
  };
}

Calls scan_of(std::size_t size) {
  return [=](groups::Group& group) {
    const Values in(size, 1);
    Values out(size);
    group.run(groups::scan(in, out, "sum"));
  };
}

Calls gather_of(std::size_t size, std::uint32_t root) {
  return [=](groups::Group& group) {
    const Values in(size, 1);
    Values out(group.rank() == root ? size * group.size() : 0);
    group.run(groups::gather(in, out, root));
  };
}

void barrier(groups::Group& group) { group.run(groups::barrier()); }
void nothing(groups::Group&) {}

Calls then(Calls first, Calls second) {
  return [=](groups::Group& group) {
    first(group);
    second(group);
  };
}

struct Difference {
  std::string name;
  Calls of_most, of_one;
};

std::vector<Difference> differences() {
  return {
      {"count 0 and 1 of a broadcast", broadcast_of(0), broadcast_of(1)},
      {"count 1 and 0 of a broadcast", broadcast_of(1), broadcast_of(0)},
      {"count 0 and many of a broadcast", broadcast_of(0), broadcast_of(50'000)},
      {"count of a broadcast", broadcast_of(3), broadcast_of(4)},
      {"count of an allreduce", sum_of(8), sum_of(9)},
      {"count 0 and 1 of an allreduce", sum_of(0), sum_of(1)},
      {"count 1 and 0 of an allreduce", sum_of(1), sum_of(0)},
      {"count 0 and many of a reduce", reduce_to(0, 0), reduce_to(0, 50'000)},
      {"count 0 and 1 of a gather", gather_of(0, 1), gather_of(1, 1)},
      {"root of a broadcast", broadcast_of(5, 0), broadcast_of(5, 1)},
      {"root of a reduce", reduce_to(0, 1), reduce_to(2, 1)},
      {"root of a large reduce", reduce_to(0, 50'000), reduce_to(2, 50'000)},
      {"operation", sum_of(8), sum_of(8, "max")},
      {"schedule", sum_of(8), sum_of(8, "sum", "ring")},
      {"type", sum_of(8), doubles(8)},
      {"kind", sum_of(8), scan_of(8)},
      {"kind, none of them with values", barrier, broadcast_of(0)},
      {"kind, one of them without values", broadcast_of(0), barrier},
      {"kind, a scan of one and a broadcast of none", broadcast_of(0), scan_of(1)},
      {"order", then(broadcast_of(1), sum_of(1)), then(sum_of(1), broadcast_of(1))},
      {"order, without values", then(broadcast_of(0), barrier), then(barrier, broadcast_of(0))},
      {"one less", barrier, nothing},
      {"one more", nothing, barrier},
      {"one more without values", nothing, broadcast_of(0)},
      {"one less without values", broadcast_of(0), nothing},
      {"many less without values",
       [](groups::Group& group) {
         for (int i = 0; i < 100; ++i) broadcast_of(0)(group);
       },
       broadcast_of(1)},
  };
}

/// Runs operations in which the call of member `one` differs from the calls of the other members.
/// Returns the error of each member; "" = no error. Checks that all operations end promptly.
std::vector<std::string> endings(const std::string& config, const Difference& difference,
                                 std::uint32_t one, runtime::ClockKind clock) {
  const Sim sim(config);
  std::vector<std::string> all(sim.plan().thread_count(), "did not come");
  runtime::Mutex mutex;
  const SimResult result = sim.run(
      [&](paths::Thread& thread) {
        groups::Group world(thread);
        std::string text;
        const base::Nanos begin = thread.now();
        try {
          sum_of(2)(world);
          (world.rank() == one ? difference.of_one : difference.of_most)(world);
          exchange_with_all(world);
        } catch (const paths::TravelError& error) {
          text = error.what();
        } catch (const base::UsageError& error) {
          text = error.what();
        }
        if (thread.now() - begin > promptly(clock)) text = "late: " + text;
        const runtime::Lock lock(mutex);
        all[world.rank()] = text;
      },
      clock);
  CHECK(result.broke == "");
  return all;
}

void check_all_told(const std::string& config, const Difference& difference, std::uint32_t one,
                    runtime::ClockKind clock) {
  const auto all = endings(config, difference, one, clock);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    INFO(difference.name << ", member " << one << " differs; member " << rank << ": " << all[rank]);
    CHECK(all[rank] != "");
    CHECK(all[rank] != "did not come");
    CHECK_THAT(all[rank], !Catch::StartsWith("late: "));
  }
}

}  // namespace

TEST_CASE("groups: every difference between calls reaches all members long before the deadline",
          "[without_tsan]") {
  for (const std::string& config : {three_hosts, without_credit, two_clusters})
    for (const Difference& difference : differences())
      for (std::uint32_t one = 0; one < or_fewer(Sim(config).plan().thread_count()); ++one)
        check_all_told(config, difference, one, runtime::ClockKind::virtual_time);
}

TEST_CASE("groups: differences that show only as silence reach all members on the steady clock") {
  for (const Difference& difference : differences()) {
    if (difference.name.find(" 0 and ") == std::string::npos) continue;
    check_all_told(three_hosts, difference, 2, runtime::ClockKind::steady);
  }
}

TEST_CASE("groups: a member that waits for a message that never comes learns which host is done") {
  const auto all = endings(three_hosts, {"", broadcast_of(0), broadcast_of(1)}, 2,
                           runtime::ClockKind::virtual_time);
  for (const std::string& one : all)
    CHECK_THAT(one, Catch::Contains("hosts a-2 and a-0 use channel 1 of group world for different "
                                    "messages: a-2 waits for a-0, which has closed it"));
  CHECK_THAT(all[2], Catch::Contains("in operation 1 of group world thread a-2/0 calls 'broadcast "
                                     "i64 from 0, 1 by best'"));
}

TEST_CASE("groups: different members of a group on hosts are an error long before the deadline") {
  for (const std::string& config : {three_hosts, without_credit}) {
    std::map<std::uint32_t, std::string> told;
    const SimResult result = Sim(config).run([&](paths::Thread& thread) {
      if (thread.rank() < 2) {
        const std::vector<std::uint32_t> two{0, 1}, three{0, 1, 2};
        groups::Group group(thread, "some", thread.rank() == 0 ? two : three);
        told[thread.rank()] = thrown<paths::TravelError>([&] { exchange_with_all(group); });
        CHECK(thread.now() < promptly(runtime::ClockKind::virtual_time));
      }
      thread.sleep_for(20s - thread.now());
    });
    CHECK(result.broke == "");
    CHECK(told.size() == 2);
    for (const auto& [rank, text] : told) CHECK(text != "nothing");
  }
}
