// SPDX-License-Identifier: Apache-2.0
// tests/groups/explanation_test.cpp — rankings and explanations of schedules, compared with the
// schedules that groups choose.
#include "groups/selection/explanation.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "groups/selection/network_of.hpp"
#include "tests/groups/members.hpp"
#include "tests/support/environment.hpp"

namespace {

using collectives::Collective;
using test_support::Sim;

std::string random_config(std::mt19937_64& random) {
  const std::size_t clusters = 1 + random() % 3;
  const bool has_network = random() % 5 > 0;
  std::string config = "clusters:\n";
  for (std::size_t cluster = 0; cluster < clusters; ++cluster) {
    const std::string uplinks[] = {"uplink: switch, ", "",
                                   fmt::format("gateway: {{host: g{}, rate: 300Mbit}}, ", cluster)};
    config += fmt::format("  c{}: {{hosts: {}, {}{}}}\n", cluster, 1 + random() % 5,
                          uplinks[random() % 3],
                          has_network ? "network: {latency: 50us, bandwidth: 100Mbit}" : "");
  }
  if (clusters > 1)
    config += has_network ? "links: {all: {latency: 10ms, bandwidth: 1Gbit}}\n"
                          : "links: {all: {latency: 0ms}}\n";
  return config + "lanes: {inbox: 4GiB}\n";
}

/// Returns a call of a group with one member on each host. For a reduction, `variant` chooses which
/// orders of summation the call allows.
groups::Call call_of(Collective collective, std::uint64_t variant) {
  groups::Call call;
  call.collective = collective;
  call.scalar = variant == 0 ? base::Scalar::i64 : base::Scalar::f64;
  if (is_reduction(collective)) call.operation = variant == 0 ? "max" : "sum";
  call.is_canonical = variant == 2;
  return call;
}

/// Runs the call on all hosts. Returns the name of the schedule that the group used, and the time
/// of the operation.
std::pair<std::string, base::Nanos> run(const Sim& sim, const groups::Call& asked,
                                        const collectives::CollectiveSpec& task) {
  std::string taken;
  base::Nanos end{0};
  const base::Nanos begin = std::chrono::milliseconds(100);
  sim.run_well([&](paths::Thread& thread) {
    groups::Group world(thread);
    groups::Call call = asked;
    call.counts = {task.counts.largest()};
    call.root = task.root;
    const bool has_in = call.collective != Collective::broadcast;
    std::vector<double> in(has_in ? in_range(task, world.rank()).count : 0);
    const bool is_exscan = call.collective == Collective::exscan;
    std::vector<double> out(is_exscan ? task.counts.total() : out_range(task, world.rank()).count);
    if (call.collective != Collective::barrier) {
      call.in = std::as_bytes(std::span(in));
      call.out = std::as_writable_bytes(std::span(out));
    }
    thread.sleep_for(begin - thread.now());
    world.run(call);
    end = std::max(end, thread.now());
    if (world.rank() == 0) taken = world.last_algorithm();
  });
  return {taken, end - begin};
}

struct Operations {
  int all = 0, other_times = 0;
};

void check_ranking(const Sim& sim, groups::Selector& selector, const groups::Call& call,
                   const collectives::CollectiveSpec& task, Operations& counts) {
  INFO(name_of(call.collective) << " of " << task.counts.largest() << " from " << task.root
                                << " by " << call.operation
                                << (call.is_canonical ? ", canonical" : ""));
  const auto ranking = groups::rank_schedules(selector, groups::key_of(call, task, 8));
  const auto taken = std::find_if(ranking.begin(), ranking.end(),
                                  [](const groups::RankedSchedule& one) { return one.is_taken; });
  REQUIRE(taken != ranking.end());
  CHECK(std::count_if(ranking.begin(), ranking.end(),
                      [](const groups::RankedSchedule& one) { return one.is_taken; }) == 1);
  CHECK(taken->is_allowed);
  const auto fastest =
      std::find_if(ranking.begin(), ranking.end(), [](const auto& one) { return one.is_allowed; });
  CHECK(static_cast<double>(taken->time.count()) <=
        1.01 * static_cast<double>(fastest->time.count()));
  const auto [name, time] = run(sim, call, task);
  const std::string words = taken->candidate.parameters.text();
  CHECK(name == taken->candidate.algorithm->name + (words.empty() ? "" : ":" + words));
  ++counts.all;
  if (time != taken->time_on_links) ++counts.other_times;
}

}  // namespace

TEST_CASE("explanation: the schedule that is marked as taken is the one that a group takes",
          "[without_asan][without_tsan]") {
  Operations counts;
  const std::uint64_t shapes = test_support::from_environment("PATHS_SEEDS", 12);
  for (std::uint64_t seed = 1; seed <= shapes; ++seed) {
    std::mt19937_64 random(seed);
    const std::string config = random_config(random);
    INFO(config);
    const Sim sim(config);
    if (sim.plan().thread_count() < 2) continue;
    groups::Selector selector(sim.plan(), groups::participants_of(sim.plan()));
    for (const Collective collective : collectives::all_collectives)
      for (std::uint64_t variant = 0; variant < (is_reduction(collective) ? 3 : 1); ++variant) {
        const groups::Call call = call_of(collective, variant);
        const auto& topology = selector.network().topology;
        const std::uint64_t count =
            collective == Collective::barrier ? 1 : std::uint64_t{1} << random() % 15;
        const auto root =
            has_root(collective) ? static_cast<std::uint32_t>(random() % topology->size()) : 0;
        check_ranking(sim, selector, call, make_spec(collective, topology, count, root), counts);
      }
  }
  // Some times differ from the prediction, because messages that reach an exit at the same time can
  // pass the exit in either order.
  INFO(counts.all << " operations, " << counts.other_times << " with other times than predicted");
  CHECK(counts.all > static_cast<int>(shapes) * 15);
  CHECK(counts.other_times <= counts.all / 50);
}

// Each explanation searches for other costs at which another schedule is taken.
TEST_CASE("explanation: the parts of a predicted time add up to it",
          "[without_asan][without_tsan]") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    std::mt19937_64 random(seed);
    const std::string config =
        random_config(random) +
        (seed % 2 == 0
             ? "costs: {send: 20us, receive: {1B: 10us, 64KiB: 50us}, fold_ns_per_byte: 0.5}\n"
             : "");
    INFO(config);
    const Sim sim(config);
    if (sim.plan().thread_count() < 2) continue;
    groups::Selector selector(sim.plan(), groups::participants_of(sim.plan()));
    for (const Collective collective : collectives::all_collectives) {
      const auto task = make_spec(collective, selector.network().topology, 1000, 0);
      const auto explanation =
          groups::explain(selector, groups::key_of(call_of(collective, 1), task, 8));
      INFO(name_of(collective) << ": " << explanation.selection->text());
      base::Nanos sum{0};
      for (const groups::TimeShare& share : explanation.shares) sum += share.time;
      const auto costs = static_cast<std::int64_t>(explanation.shares.size());
      CHECK(std::abs((sum - explanation.taken().time).count()) <= costs);
    }
  }
}

TEST_CASE("explanation: a message between two hosts takes latency, bytes and work of the hosts") {
  const auto explained = [](const std::string& costs) {
    const Sim sim(
        "clusters: {a: {hosts: 1}, b: {hosts: 1}}\n"
        "links: {all: {latency: 10ms, bandwidth: 8Mbit}}\nlanes: {}\ncosts: " +
        costs + "\n");
    groups::Selector selector(sim.plan(), groups::participants_of(sim.plan()));
    const auto task = make_spec(Collective::broadcast, selector.network().topology, 20'000, 0);
    return groups::explain(selector, groups::key_of(call_of(Collective::broadcast, 1), task, 1))
        .shares;
  };
  const auto parts = explained("{send: 2ms, receive: 3ms}");
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].cost == groups::NetworkCost::bandwidth_between);
  CHECK(std::abs(parts[0].time.count() - 20'000'000) < 100);
  CHECK(parts[1].cost == groups::NetworkCost::latency_between);
  CHECK(std::abs(parts[1].time.count() - 10'000'000) < 100);
  CHECK(parts[2].cost == groups::NetworkCost::message);
  CHECK(std::abs(parts[2].time.count() - 5'000'000) < 100);
  CHECK(explained("{}").size() == 2);
}

// The search evaluates thousands of schedules, which takes minutes under a sanitizer.
TEST_CASE("explanation: on the other side of a size or cost the named schedule is taken",
          "[without_asan][without_tsan]") {
  const std::string config =
      "clusters:\n"
      "  a: {hosts: 4, uplink: switch, network: {latency: 50us, bandwidth: 100Mbit}}\n"
      "  b: {hosts: 4, uplink: switch, network: {latency: 50us, bandwidth: 100Mbit}}\n"
      "links: {all: {latency: 10ms, bandwidth: 100Mbit}}\nlanes:\n";
  const Sim sim(config);
  groups::Selector selector(sim.plan(), groups::participants_of(sim.plan()));
  std::size_t sizes = 0, costs = 0;
  for (const Collective collective :
       {Collective::reduce, Collective::allreduce, Collective::broadcast, Collective::allgather}) {
    const groups::Call call = call_of(collective, 1);
    const auto spec_of = [&](std::uint64_t count) {
      return make_spec(collective, selector.network().topology, count);
    };
    const auto taken_for = [&](std::uint64_t count) {
      const auto choice = selector.answer(groups::key_of(call, spec_of(count), 8));
      return groups::text_without_length({choice->algorithm, choice->parameters}, collective);
    };
    constexpr std::uint64_t count = 32 * 1024;
    const groups::Explanation explanation =
        groups::explain(selector, groups::key_of(call, spec_of(count), 8));
    for (const groups::Crossover& size : explanation.sizes) {
      ++sizes;
      CHECK(taken_for(std::llround(size.factor * count)) == size.schedule);
      // Up to the limit a group takes the present schedule, or one that is no faster.
      const double before = size.is_more ? size.factor / 1.02 : size.factor * 1.02;
      const auto task = spec_of(std::llround(before * count));
      const auto best = pricing::best_of(task, 8, selector.network(), collectives::Order::in_order);
      const auto& [algorithm, parameters] = explanation.taken().candidate;
      const auto price = pricing::price(*algorithm, task, parameters, 8, selector.network());
      CHECK(
          (taken_for(task.counts.largest()) == taken_for(count) || price.time <= best.price.time));
    }
    for (const auto& [cost, crossover] : explanation.costs) {
      ++costs;
      CHECK((crossover.factor > 1) == crossover.is_more);
      CHECK(crossover.schedule != taken_for(count));
    }
    const groups::CostCrossover* latency = nullptr;
    for (const auto& one : explanation.costs)
      if (one.cost == groups::NetworkCost::latency_between) latency = &one;
    if (latency == nullptr) continue;
    const auto micros = std::llround(latency->crossover.factor * 10'000);
    std::string other = config;
    other.replace(other.find("10ms"), 4, fmt::format("{}us", micros));
    const Sim slower(other);
    groups::Selector with_other(slower.plan(), groups::participants_of(slower.plan()));
    const auto choice = with_other.answer(groups::key_of(call, spec_of(count), 8));
    CHECK(groups::text_without_length({choice->algorithm, choice->parameters}, collective) ==
          latency->crossover.schedule);
  }
  CHECK(sizes >= 2);
  CHECK(costs >= 5);
}

TEST_CASE("explanation: the fastest schedule that the order of sums forbids is named") {
  const Sim sim(
      "clusters: {a: {hosts: 8, network: {latency: 50us, bandwidth: 100Mbit}}}\nlanes:\n");
  groups::Selector selector(sim.plan(), groups::participants_of(sim.plan()));
  const auto spec = make_spec(Collective::allreduce, selector.network().topology, 1024);
  const auto exact =
      groups::explain(selector, groups::key_of(call_of(spec.collective, 0), spec, 4));
  CHECK(exact.faster() == nullptr);
  const auto canonical =
      groups::explain(selector, groups::key_of(call_of(spec.collective, 2), spec, 4));
  REQUIRE(canonical.faster() != nullptr);
  CHECK(canonical.faster()->order > collectives::Order::canonical);
  CHECK(canonical.faster()->time < canonical.taken().time);
  CHECK(canonical.next()->time >= canonical.taken().time);
}

TEST_CASE("explanation: a forbidden schedule is named although an allowed one is faster") {
  groups::Explanation explanation;
  for (const int micros : {10, 20, 30})
    explanation.ranking.emplace_back().time = std::chrono::microseconds(micros);
  explanation.ranking[1].is_allowed = false;
  explanation.ranking[2].is_taken = true;
  CHECK(explanation.next() == &explanation.ranking[0]);
  CHECK(explanation.faster() == &explanation.ranking[1]);
  explanation.ranking[1].time = explanation.ranking[2].time;
  CHECK(explanation.faster() == nullptr);
}
