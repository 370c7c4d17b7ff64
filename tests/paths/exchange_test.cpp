// SPDX-License-Identifier: Apache-2.0
// tests/paths/exchange_test.cpp — exchanges of tuples between threads that are neighbours in the
// order of ranks.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/sim.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;

/// Ranks: a-0 has 0 and 1, a-1 has 2 and 3, x has 4, y has 5 and 6, c-0 has 7 and 8.
const std::string three = R"(
clusters:
  a: {hosts: 2, threads: 2}
  b: {hosts: [x, y], threads: {y: 2}, gateway: gate, network: {latency: 1ms}}
  c: {hosts: 1, threads: 2}
links:
  - {between: [a, b], latency: 10ms}
  - {from: b, to: c, latency: 20ms}
  - {from: c, to: b, latency: 5ms}
)";
constexpr std::uint32_t three_ranks = 9;

std::string exchange(const std::string& more = "") {
  return "exchanges:\n  rows: {template: u32" + more + "}\n";
}

std::string from_previous(std::uint32_t rank) { return fmt::format("rows.{}.from_previous", rank); }
std::string from_next(std::uint32_t rank) { return fmt::format("rows.{}.from_next", rank); }

void send_rank(paths::Thread& thread) {
  const std::uint32_t rank = thread.rank();
  if (rank + 1 < thread.threads())
    thread.path(from_previous(rank + 1)).push(base::Payload::of(rank));
  if (rank > 0) thread.path(from_next(rank - 1)).push(base::Payload::of(rank));
}

struct Received {
  std::uint32_t rank = 0;
  base::Nanos at{0};
  bool operator==(const Received& other) const { return rank == other.rank && at == other.at; }
};

/// Returns the received tuple; nullopt for a thread that has no neighbour on the side of `element`.
std::optional<Received> receive(paths::Thread& thread, const std::string& element) {
  if (!thread.has_path(element)) return std::nullopt;
  const pastset::Stored stored = thread.path(element).observe();
  return Received{stored.payload.read<std::uint32_t>(), thread.now()};
}

std::vector<std::string> kinds_on(const paths::Plan& plan, const paths::Plan::PlanPath& path) {
  std::vector<std::string> kinds;
  for (auto stage = path.stage; stage != paths::no_stage; stage = plan.stages[stage].below)
    kinds.push_back(plan.wrappers[plan.stages[stage].wrapper].kind);
  return kinds;
}

std::vector<std::string> kinds_on(const paths::Plan& plan, const std::string& graph,
                                  const std::string& host) {
  for (const auto& path : plan.paths)
    if (path.graph == graph && plan.hosts[path.host].name == host) return kinds_on(plan, path);
  return {};
}

}  // namespace

TEST_CASE("exchange: each thread gets the ranks of both neighbours after the delay of the links") {
  const bool is_expanded = GENERATE(false, true);
  const Sim high(three + exchange());
  const Sim sim(is_expanded ? high.low_level() : three + exchange());
  REQUIRE(sim.plan().digest == high.plan().digest);
  const bool previous_first = GENERATE(false, true);
  std::vector<std::optional<Received>> previous(three_ranks), next(three_ranks);
  const SimResult run = sim.run_well([&](paths::Thread& thread) {
    const std::uint32_t rank = thread.rank();
    send_rank(thread);
    if (previous_first) previous[rank] = receive(thread, from_previous(rank));
    next[rank] = receive(thread, from_next(rank));
    if (!previous_first) previous[rank] = receive(thread, from_previous(rank));
  });
  // A tuple from rank 3 to rank 4 takes 11 ms: 10 ms on the link, and 1 ms in b's network from the
  // gateway to the host.
  const std::vector<base::Nanos> down = {0ms, 0ms, 0ms, 0ms, 11ms, 1ms, 0ms, 21ms, 0ms};
  const std::vector<base::Nanos> up = {0ms, 0ms, 0ms, 11ms, 1ms, 0ms, 6ms, 0ms, 0ms};
  for (std::uint32_t rank = 0; rank < three_ranks; ++rank) {
    INFO("rank " << rank);
    const base::Nanos later = std::max(down[rank], up[rank]);
    CHECK(previous[rank].has_value() == (rank > 0));
    CHECK(next[rank].has_value() == (rank + 1 < three_ranks));
    if (rank > 0) CHECK(*previous[rank] == Received{rank - 1, previous_first ? down[rank] : later});
    if (rank + 1 < three_ranks)
      CHECK(*next[rank] == Received{rank + 1, previous_first ? later : up[rank]});
  }
  // Each tuple is one message, without a request or a reply.
  CHECK(run.wan_of(from_previous(4)).messages == 1);
  CHECK(run.wan_of(from_next(6)).messages == 1);
  CHECK(run.wan_of(from_previous(3)).messages == 0);
  CHECK(run.all_of(from_previous(1)).messages == 0);
}

TEST_CASE("exchange: sent tuples stay in order until they are axed") {
  const Sim sim(three + exchange());
  std::vector<std::uint32_t> observed;
  sim.run_well([&](paths::Thread& thread) {
    constexpr std::uint32_t tuples = 5;
    if (thread.rank() == 3)
      for (std::uint32_t i = 0; i < tuples; ++i)
        thread.path(from_previous(4)).push(base::Payload::of(i));
    if (thread.rank() != 4) return;
    paths::Path& mine = thread.path(from_previous(4));
    thread.sleep_for(1s);
    for (std::uint32_t i = 0; i < tuples; ++i)
      observed.push_back(mine.observe().payload.read<std::uint32_t>());
    CHECK(mine.observe(0).number == 0);
    mine.axe(tuples - 1);
    CHECK_THROWS_AS(mine.observe(0), paths::TravelError);
  });
  CHECK(observed == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
}

TEST_CASE("exchange: a wait for a neighbour that has ended fails after its last tuple") {
  const Sim sim(three + exchange());
  std::vector<std::uint32_t> observed;
  std::string told;
  sim.run_well([&](paths::Thread& thread) {
    if (thread.rank() == 3)
      for (std::uint32_t i = 0; i < 3; ++i)
        thread.path(from_previous(4)).send(base::Payload::of(i));
    if (thread.rank() != 4) return;
    try {
      while (true)
        observed.push_back(thread.path(from_previous(4)).observe().payload.read<std::uint32_t>());
    } catch (const paths::TravelError& error) {
      told = error.what();
    }
  });
  CHECK(observed == std::vector<std::uint32_t>{0, 1, 2});
  CHECK_THAT(told, Catch::Contains("thread a-1/1 has ended"));
}

TEST_CASE("exchange: each direction has an element and two paths of one thread each") {
  const paths::Plan plan = Sim(three + exchange()).plan();
  CHECK(plan.elements.size() == 2 * (three_ranks - 1));
  CHECK(plan.paths.size() == 4 * (three_ranks - 1));
  for (const auto& path : plan.paths) CHECK(path.threads == 1);
  const auto& element = plan.elements[*plan.element_named(from_previous(4))];
  CHECK(plan.hosts[element.host].name == "x");
  CHECK(element.keep_newest == 0);
  CHECK(element.delta == 0);
  CHECK(kinds_on(plan, from_previous(4), "x") == std::vector<std::string>{"store"});
  CHECK(kinds_on(plan, from_previous(4), "a-1") ==
        std::vector<std::string>{"forward", "emulate_link", "forward", "emulate_link",
                                 "emulate_link", "forward", "emulate_link", "store"});
}

TEST_CASE("exchange: threads are neighbours across hosts and clusters without threads") {
  const std::string clusters = R"(
clusters:
  a: {hosts: 3, threads: {a-1: 0}}
  b: {hosts: 2, threads: 0}
  c: {hosts: 1, threads: 1, gateway: gate}
links: [{between: [a, c], latency: 3ms}]
)";
  std::vector<Received> received(3);
  Sim(clusters + exchange()).run_well([&](paths::Thread& thread) {
    send_rank(thread);
    const std::uint32_t rank = thread.rank();
    if (rank > 0) received[rank] = *receive(thread, from_previous(rank));
  });
  CHECK(received == std::vector<Received>{{}, {0, 0ms}, {1, 3ms}});
}

TEST_CASE("exchange: a single thread has no neighbours") {
  const Sim sim("clusters: {a: {hosts: 1}}\n" + exchange());
  CHECK(sim.plan().elements.empty());
  bool has_path = true;
  sim.run_well([&](paths::Thread& thread) { has_path = thread.has_path(from_next(0)); });
  CHECK_FALSE(has_path);
}

TEST_CASE("exchange: instrument and a traced run put collectors on both paths") {
  const auto ways = [](const std::string& more, const paths::Overrides& overrides = {}) {
    const paths::Plan plan = Sim("clusters: {a: {hosts: 2}}\n" + exchange(more), overrides).plan();
    return kinds_on(plan, from_previous(1), "a-0");
  };
  const std::vector<std::string> bare = {"forward", "store"};
  const std::vector<std::string> all = {"event_collector", "forward", "event_collector", "store"};
  CHECK(ways("") == bare);
  CHECK(ways(", instrument: true") == all);
  CHECK(ways(", instrument: [store]") ==
        std::vector<std::string>{"forward", "event_collector", "store"});
  CHECK(ways("", traced()) == all);
  CHECK(ways(", instrument: false", traced()) == bare);
  paths::Overrides silent = traced();
  silent.instrument = false;
  CHECK(ways(", instrument: true", silent) == bare);
}

TEST_CASE("exchange: an error about a missing tuple names the host of the neighbour") {
  const Sim sim("deadline: 1s\n" + three + exchange());
  const SimResult run = sim.run([&](paths::Thread& thread) {
    if (thread.rank() == 3) thread.sleep_for(10s);
    if (thread.rank() == 4) thread.path(from_previous(4)).observe();
  });
  REQUIRE(run.failures.size() == 1);
  CHECK_THAT(run.failures[0],
             Catch::Contains("no tuple 0 before the deadline; they come from host a-1"));
}

TEST_CASE(
    "exchange: a thread that sees a neighbour's end passes the error on to waiters in a "
    "reduction") {
  const Sim sim(R"(
clusters:
  a: {hosts: 1, threads: 1}
  b: {hosts: 1, threads: 1}
  c: {hosts: 1, threads: 1}
links:
  - {between: [a, b], latency: 10ms}
  - {between: [b, c], latency: 20ms}
  - {between: [a, c], latency: 30ms}
collectives:
  sum: {operation: sum, template: f64, algorithm: conditional, condition: {less: 1},
        contributions: non_negative}
exchanges: {rows: {template: u32}}
)");
  std::vector<std::string> told(3);
  const SimResult run = sim.run([&](paths::Thread& thread) {
    try {
      for (int i = 0; i < 10; ++i) {
        if (thread.rank() == 2 && i == 3) return;
        thread.sleep_for(1ms);
        send_rank(thread);
        receive(thread, from_previous(thread.rank()));
        receive(thread, from_next(thread.rank()));
        // With this value, the condition can be decided only by the contributions of all threads.
        thread.path("sum").move_value(0.001);
      }
    } catch (const paths::TravelError& error) {
      told[thread.rank()] = error.what();
      throw;
    }
  });
  CHECK(run.broke == "");
  CHECK(run.failures.size() == 2);
  CHECK_THAT(told[0], Catch::Contains("thread c-0/0 "));
  CHECK_THAT(told[1], Catch::Contains("thread c-0/0 "));
}
