// SPDX-License-Identifier: Apache-2.0
// tests/paths/failure_test.cpp — the threads that get an error if an operation fails at any place
// of a tree.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support/sim.hpp"

namespace {

using namespace test_support;
using namespace std::chrono_literals;

constexpr std::uint64_t rounds = 5, bad_round = 2;

std::string config(const std::string& algorithm, int alpha_hosts = 2) {
  return fmt::format(R"(
clusters:
  alpha: {{hosts: {1}, threads: 2, gateway: alpha-gateway, network: {{latency: 1ms}}}}
  beta: {{hosts: 2, threads: {{beta-0: 2, beta-1: 1}}}}
links: [{{between: [alpha, beta], latency: 10ms}}]
collectives:
  sum: {{operation: sum, template: f64, algorithm: {0}, condition: {{greater: 1000}},
        contributions: non_negative}}
)",
                     algorithm, alpha_hosts);
}

double value_of(std::uint32_t rank, std::uint64_t round, double base_value) {
  return base_value + rank + 10.0 * static_cast<double>(round);
}

using Outcomes = std::vector<std::vector<RoundOutcome>>;  // indexed by rank and round

struct Waiter {
  SimResult run;
  Outcomes outcomes;
};

Waiter contribute_all(const Sim& sim, double base_value = 1) {
  Waiter told;
  told.outcomes.resize(sim.plan().thread_count());
  told.run = sim.run([&](paths::Thread& thread) {
    for (std::uint64_t round = 0; round < rounds; ++round)
      told.outcomes[thread.rank()].push_back(
          contribute(thread, "sum", value_of(thread.rank(), round, base_value)));
  });
  return told;
}

double whole_sum(const paths::Plan& plan, std::uint64_t round, double base_value = 1) {
  double sum = 0;
  for (std::uint32_t rank = 0; rank < plan.thread_count(); ++rank)
    sum += value_of(rank, round, base_value);
  return sum;
}

/// Rounds in which a thread must get the error: all rounds r with from <= r < until. The results of
/// all other rounds must be correct.
struct Expected {
  std::uint64_t from = rounds, until = rounds;
};

void check(const Waiter& told, const std::vector<Expected>& expected, const paths::Plan& plan,
           double base_value) {
  CHECK(told.run.broke == "");
  CHECK(told.run.failures.empty());
  std::string wrong;
  for (std::uint32_t rank = 0; rank < expected.size(); ++rank) {
    if (told.outcomes[rank].size() != rounds) wrong += fmt::format("rank {} stopped\n", rank);
    for (std::uint64_t round = 0; round < told.outcomes[rank].size(); ++round) {
      const RoundOutcome& got = told.outcomes[rank][round];
      const bool is_bad = round >= expected[rank].from && round < expected[rank].until;
      const bool is_right =
          is_bad ? got.is_error && got.error.find(thrown_text) != std::string::npos
                 : !got.is_error && (got.condition == paths::Condition::holds ||
                                     got.value == whole_sum(plan, round, base_value));
      if (is_right) continue;
      const double whole = whole_sum(plan, round, base_value);
      wrong += fmt::format("rank {} round {}: expected {}, got {}\n", rank, round,
                           is_bad ? "the error" : fmt::format("{}", whole),
                           got.is_error ? got.error : fmt::format("{}", got.value));
    }
  }
  CHECK(wrong == "");
}

std::uint32_t cluster_of_rank(const paths::Plan& plan, std::uint32_t rank) {
  std::uint32_t cluster = 0;
  for (const auto& host : plan.hosts)
    if (host.threads > 0 && host.first_thread <= rank) cluster = host.cluster;
  return cluster;
}

std::string settings(const std::string& way, int slot = -1) {
  return fmt::format("{{way: {}, round: {}, slot: {}}}", way, bad_round, slot);
}

constexpr std::uint64_t forever = rounds;

/// Returns the expected errors in a tree. In a tree, only one round fails. A failure on the way
/// down reaches all threads. A failure on the way up reaches only the threads whose operations pass
/// `place`.
std::vector<Expected> expected_in_tree(const Sim& sim, const Sim::Place& place, bool up) {
  const auto above = sim.threads_through(place);
  std::vector<Expected> expected(sim.plan().thread_count());
  for (std::uint32_t rank = 0; rank < expected.size(); ++rank)
    if (!up || above.contains(rank)) expected[rank] = {bad_round, bad_round + 1};
  return expected;
}

/// Returns the cluster of the host on which the path through `place` begins. A prefetch begins at
/// the root of its cluster.
std::uint32_t cluster_of_place(const Sim& sim, const Sim::Place& place) {
  for (std::uint32_t path = 0; path < sim.plan().paths.size(); ++path)
    if (sim.passes(path, place)) return sim.plan().hosts[sim.plan().paths[path].host].cluster;
  return 0;
}

/// Returns the expected errors if all clusters need all values. If the failure is after the
/// decision, the errors are those of a tree. Otherwise the failed cluster fails in round
/// `bad_round` and all later rounds. The other clusters fail in the same rounds if the failed
/// cluster has not moved its tuple of `bad_round`. If it has moved this tuple, they fail only in
/// the later rounds.
std::vector<Expected> expected_when_all_are_needed(const Sim& sim, const Sim::Place& place,
                                                   bool up) {
  const auto above = sim.threads_through(place);
  const bool is_decided = up && !above.empty() && !sim.kind_above(place, "condition_check");
  if (is_decided) return expected_in_tree(sim, place, true);
  // If a prefetch fails, the failed cluster is the cluster that prefetches. That cluster has
  // already moved its own tuple of the round.
  const bool has_moved = above.empty() || up;
  const std::uint32_t cluster = cluster_of_place(sim, place);
  std::vector<Expected> expected(sim.plan().thread_count());
  for (std::uint32_t rank = 0; rank < expected.size(); ++rank) {
    const bool is_own = cluster_of_rank(sim.plan(), rank) == cluster;
    expected[rank] = {is_own || !has_moved ? bad_round : bad_round + 1, forever};
  }
  return expected;
}

/// Returns the expected errors if every cluster decides from its own values.
std::vector<Expected> expected_when_each_decides_alone(const Sim& sim, const Sim::Place& place,
                                                       bool up) {
  const auto above = sim.threads_through(place);
  std::vector<Expected> expected(sim.plan().thread_count());
  if (above.empty()) return expected;
  if (up && !sim.kind_above(place, "condition_check")) return expected_in_tree(sim, place, true);
  const std::uint32_t cluster = cluster_of_place(sim, place);
  for (std::uint32_t rank = 0; rank < expected.size(); ++rank)
    if (cluster_of_rank(sim.plan(), rank) == cluster) expected[rank] = {bad_round, forever};
  return expected;
}

using Expect = std::vector<Expected> (*)(const Sim&, const Sim::Place&, bool);

void throw_everywhere(const Sim& sim, Expect expect, double base_value) {
  std::size_t runs = 0;
  for (const Sim::Place& place : sim.places()) {
    for (const bool up : {false, true}) {
      INFO(place.text << (up ? ", up" : ", down"));
      const auto expected = expect(sim, place, up);
      check(contribute_all(sim.with(place, "thrower", settings(up ? "up" : "down")), base_value),
            expected, sim.plan(), base_value);
      ++runs;
    }
  }
  CHECK(runs > 40);
}

constexpr double needs_all = 1, decides_alone = 2000;

}  // namespace

TEST_CASE(
    "failure: in a tree a failure down reaches all threads and up those above in that round only") {
  throw_everywhere(Sim(config("sequential")), expected_in_tree, needs_all);
}

TEST_CASE("failure: in a tree with a fan-out the same holds") {
  throw_everywhere(Sim(config("sequential, fan_out: 2", 4)), expected_in_tree, needs_all);
}

TEST_CASE("failure: magpie fails for good before the decision and for the threads above after it") {
  throw_everywhere(Sim(config("magpie")), expected_when_all_are_needed, needs_all);
}

TEST_CASE("failure: conditional that needs every cluster fails as magpie does") {
  throw_everywhere(Sim(config("conditional")), expected_when_all_are_needed, needs_all);
}

TEST_CASE("failure: conditional continues in every other cluster that can decide") {
  throw_everywhere(Sim(config("conditional")), expected_when_each_decides_alone, decides_alone);
}

TEST_CASE("failure: on one thread's stretch a failure down reaches all and up that thread only") {
  const Sim sim(config("sequential"));
  for (const Sim::Place& place : sim.places()) {
    if (place.above != paths::no_stage) continue;
    const auto above = sim.threads_through(place);
    if (above.size() < 2) continue;
    INFO(place.text);
    std::vector<Expected> expected(sim.plan().thread_count());
    expected[*above.rbegin()] = {bad_round, bad_round + 1};
    check(contribute_all(sim.with(place, "thrower", settings("up", 1))), expected, sim.plan(),
          needs_all);
    check(contribute_all(sim.with(place, "thrower", settings("down", 1))),
          expected_in_tree(sim, place, false), sim.plan(), needs_all);
  }
}

TEST_CASE("failure: rounds of a thread that throws end with its error for all others") {
  const Sim sim(R"(
clusters:
  alpha: {hosts: 2, threads: 1, network: {latency: 1ms}}
  beta: {hosts: 2, threads: 1, network: {latency: 2ms}}
links: [{between: [alpha, beta], latency: 10ms}]
collectives:
  sum: {operation: sum, template: f64, graph: tree, relaxation: {lagged: 3}}
)");
  for (std::uint32_t culprit = 0; culprit < 4; ++culprit) {
    std::vector<std::vector<double>> sums(4);
    const SimResult run = sim.run([&](paths::Thread& thread) {
      for (int i = 0; i < 20; ++i) {
        if (thread.rank() == culprit && i == 3) throw std::runtime_error("it broke");
        const paths::Result result = thread.path("sum").move_value(1.0);
        if (i >= 3) sums[thread.rank()].push_back(result.payload.read<double>());
      }
    });
    INFO(culprit);
    CHECK(run.broke == "");
    REQUIRE(run.failures.size() == 4);
    for (const std::string& failure : run.failures)
      CHECK_THAT(failure, Catch::Contains("it broke"));
    for (std::uint32_t rank = 0; rank < 4; ++rank)
      CHECK(sums[rank].size() <= 3);  // results of rounds 0 to 2 at most
  }
}

TEST_CASE("failure: an error about an invalid value names its thread on all threads") {
  const Sim sim(config("sequential"));
  Outcomes outcomes(sim.plan().thread_count());
  sim.run_well([&](paths::Thread& thread) {
    for (std::uint64_t round = 0; round < 3; ++round) {
      const bool is_bad = round == 1 && thread.rank() == 3;
      outcomes[thread.rank()].push_back(contribute(thread, "sum", is_bad ? -1.0 : 1.0));
    }
  });
  for (const auto& of_thread : outcomes) {
    CHECK(of_thread[0].value == 7);
    CHECK_THAT(of_thread[1].error, Catch::Contains("alpha-1/1") && Catch::Contains("-1"));
    CHECK(of_thread[2].value == 7);
  }
}

namespace {

/// Returns the result or the error that each thread gets when it moves its value.
template <class T>
std::vector<std::string> moved(const std::string& config, const std::vector<T>& values) {
  std::vector<std::string> got(values.size());
  Sim(config).run_well([&](paths::Thread& thread) {
    std::string& mine = got[thread.rank()];
    try {
      const paths::Result result = thread.path("sum").move_value(values[thread.rank()]);
      const char* conditions[] = {"unchecked", "holds", "fails"};
      mine = fmt::format("{}, {}", result.partial<T>(),
                         conditions[static_cast<int>(result.condition)]);
    } catch (const paths::TravelError& error) {
      mine = error.what();
    }
  });
  return got;
}

std::string three_clusters(const std::string& condition) {
  return fmt::format(R"(
clusters: {{a: {{hosts: 1, threads: 1}}, b: {{hosts: 1, threads: 1}}, c: {{hosts: 1, threads: 1}}}}
links:
  - {{between: [a, b], latency: 1ms}}
  - {{between: [b, c], latency: 2ms}}
  - {{between: [a, c], latency: 3ms}}
collectives:
  sum: {{operation: sum, template: i32, algorithm: conditional, contributions: non_negative,
        condition: {}}}
)",
                     condition);
}

}  // namespace

TEST_CASE("failure: integers of one sign that overflow prove the condition in every cluster") {
  // With the values `all_needed` no cluster decides alone. With `one_alone` cluster c decides
  // alone. The sums of the other clusters overflow when they add the value of c.
  const std::vector<std::int32_t> all_needed = {1'500'000'000, 0, 1'500'000'000},
                                  one_alone = {1'000'000'000, 500'000'000, 2'100'000'000};
  for (const auto& values : {all_needed, one_alone}) {
    for (const std::string& got : moved(three_clusters("{greater: 2000000000}"), values))
      CHECK_THAT(got, Catch::EndsWith("holds"));
    for (const std::string& got : moved(three_clusters("{at_most: 2000000000}"), values))
      CHECK_THAT(got, Catch::EndsWith("fails"));
  }
}

TEST_CASE("failure: the value of a single thread is checked and normalised like a result") {
  const auto alone = [](const std::string& collective) {
    return "clusters: {a: {hosts: 1, threads: 1}}\ncollectives: {sum: {" + collective + "}}\n";
  };
  const std::string sum = "operation: sum, template: f64, contributions: non_negative";
  for (const std::string algorithm : {"", ", algorithm: magpie", ", condition: {less: 1}"}) {
    INFO(algorithm);
    CHECK_THAT(moved<double>(alone(sum + algorithm), {-1})[0],
               Catch::Contains("thread a-0/0: negative value -1"));
    const std::string nan = moved<double>(alone(sum + algorithm), {std::nan("")})[0];
    CHECK_THAT(nan, Catch::Contains("thread a-0/0: NaN"));
    CHECK_THAT(nan, !Catch::Contains("declared"));
  }
  CHECK(moved<std::int32_t>(alone("operation: logical_or, template: i32"), {5})[0] ==
        "1, unchecked");
  CHECK(moved<double>(alone("operation: sum, template: f64"), {5})[0] == "5, unchecked");
  for (const std::string algorithm : {"", ", algorithm: magpie", ", algorithm: best"})
    for (const std::string operation : {"logical_or", "logical_and", "logical_xor"}) {
      INFO(operation << algorithm);
      const std::string logical =
          "operation: " + operation + ", template: i32, contributions: non_positive" + algorithm;
      CHECK_THAT(moved<std::int32_t>(alone(logical), {-3})[0], Catch::StartsWith("1, "));
      CHECK_THAT(moved<std::int32_t>(alone(logical), {1})[0],
                 Catch::Contains("thread a-0/0: positive value 1"));
    }
}

TEST_CASE("failure: logical values of clusters are 0 or 1 in any cluster that decides") {
  const std::string config = R"(
clusters: {a: {hosts: 1, threads: 1}, b: {hosts: 1, threads: 1}}
links: [{between: [a, b], latency: 1ms}]
collectives:
  sum: {operation: logical_or, template: i32, algorithm: conditional, condition: is_true}
)";
  for (const std::string& got : moved<std::int32_t>(config, {5, 7})) CHECK(got == "1, holds");
}

TEST_CASE("failure: a thread alone on a host behind a network is named") {
  const std::string config = R"(
clusters:
  a: {hosts: 2, threads: 1, network: {latency: 1ms}}
  b: {hosts: 2, threads: 1, network: {latency: 1ms}}
links: [{between: [a, b], latency: 1ms}]
collectives:
  sum: {operation: sum, template: f64, contributions: non_negative}
  other: {operation: sum, template: f64}
)";
  for (const std::string& got : moved<double>(config, {1, -2, 3, 4}))
    CHECK_THAT(got, Catch::Contains("thread a-1/0: negative value -2"));
  for (const std::string& got : moved<double>(config, {1, 2, 3, -4}))
    CHECK_THAT(got, Catch::Contains("thread b-1/0: negative value -4"));
}
