// SPDX-License-Identifier: Apache-2.0
// tests/collectives/cost/best_test.cpp — choice of the best schedule, and comparison of its time
// with the lower bound.
#include "collectives/cost/best.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <string>

#include "collectives/algorithms/all.hpp"

using namespace collectives;
using namespace pricing;
using namespace std::chrono_literals;

namespace {

constexpr Count mebibyte = 1 << 20;

Network clusters(const std::vector<std::size_t>& sizes) {
  return uniform_network(std::make_shared<const Topology>(Topology::clustered(sizes)),
                         {50us, 100e6}, {10ms, 1e9});
}
Network two_by_four() { return clusters({4, 4}); }

double ratio(Collective collective, Count bytes, const Network& network = two_by_four(),
             Order worst = Order::by_block) {
  const CollectiveSpec task = make_spec(collective, network.topology, bytes);
  const Best best = best_of(task, 1, network, worst);
  INFO(best.candidate.algorithm->name << ' ' << best.candidate.parameters.text());
  CHECK(best.finished <= best.priced);
  return static_cast<double>(best.price.time.count()) /
         static_cast<double>(bound_of(task, 1, network).time.count());
}

}  // namespace

TEST_CASE("best: 64 KiB over two clusters of four hosts is near the bound") {
  CHECK(ratio(Collective::broadcast, 64 * 1024) <= 1.10);
  CHECK(ratio(Collective::allreduce, 64 * 1024) <= 1.12);
}

TEST_CASE("best: 1 MiB over two clusters of four hosts is nearer to the bound") {
  CHECK(ratio(Collective::broadcast, mebibyte) <= 1.05);
  CHECK(ratio(Collective::allreduce, mebibyte) <= 1.06);
}

TEST_CASE("best: 32 MiB is nearest to the bound and on unequal or many clusters too") {
  CHECK(ratio(Collective::broadcast, 32 * mebibyte) <= 1.03);
  CHECK(ratio(Collective::allreduce, 32 * mebibyte) <= 1.02);
  CHECK(ratio(Collective::broadcast, 32 * mebibyte, clusters({1, 1, 1})) <= 1.07);
  CHECK(ratio(Collective::allreduce, 32 * mebibyte, clusters({1, 1, 1})) <= 1.02);
  CHECK(ratio(Collective::allreduce, 32 * mebibyte, clusters({3, 7})) <= 1.08);
}

TEST_CASE("best: an algorithm with limits in bytes receives the bytes of an element") {
  const CollectiveSpec task = make_spec(Collective::allgather, two_by_four().topology, 1000);
  std::size_t found = 0;
  for (const Family& family : families_of(task, 8, Order::by_block))
    for (const Candidate& candidate : family) {
      if (candidate.algorithm->name != "mpich") continue;
      ++found;
      CHECK(candidate.parameters.number("element") == 8);
    }
  CHECK(found == 1);
}

TEST_CASE("best: 1 MiB per participant is within a quarter of the bound") {
  for (const Collective collective :
       {Collective::allgather, Collective::alltoall, Collective::reduce_scatter, Collective::gather,
        Collective::scatter, Collective::scan, Collective::exscan}) {
    INFO(name_of(collective));
    CHECK(ratio(collective, mebibyte) <= 1.25);
  }
}

TEST_CASE("best: sums in the canonical order cost only latency") {
  const Network network = two_by_four();
  CHECK(ratio(Collective::allreduce, 64 * 1024, network, Order::canonical) <= 1.12);
  CHECK(ratio(Collective::allreduce, mebibyte, network, Order::canonical) <= 1.06);
  CHECK(ratio(Collective::allreduce, 32 * mebibyte, network, Order::canonical) <= 1.02);
  CHECK(ratio(Collective::reduce_scatter, mebibyte, network, Order::canonical) <= 1.25);
}

TEST_CASE("best: 8 bytes take one latency and at most half a millisecond") {
  for (const auto& sizes : {std::vector<std::size_t>{4, 4}, {4, 4, 4}, {4, 4, 4, 4, 4}})
    for (const Collective collective : all_collectives) {
      const Network network = clusters(sizes);
      const Best best = best_of(make_spec(collective, network.topology, 8), 1, network);
      INFO(name_of(collective) << ": " << best.candidate.algorithm->name);
      CHECK(best.price.time <= 10500us);
    }
}

namespace {

/// Returns the best schedule, found by predicting the time of every candidate.
Best best_of_all(const CollectiveSpec& task, const Network& network) {
  const Bytes element_bytes = task.collective == Collective::barrier ? 0 : 1;
  Best best;
  best.price.time = base::Nanos::max();
  for (const Family& family : families_of(task, 1))
    for (const Candidate& candidate : family) {
      ++best.candidates;
      const auto price = evaluate(programs_of(*candidate.algorithm, task, candidate.parameters),
                                  element_bytes, network, {}, best.price.time);
      if (!price || price->time >= best.price.time) continue;
      best.candidate = candidate;
      best.price = *price;
    }
  best.priced = best.candidates;
  return best;
}

}  // namespace

TEST_CASE("best: no omitted candidate is more than 2% faster") {
  const Network network = two_by_four();
  for (const Collective collective : {Collective::reduce, Collective::allgather}) {
    const CollectiveSpec task = make_spec(collective, network.topology, 10'000);
    const Best some = best_of(task, 1, network);
    const Best all = best_of_all(task, network);
    CHECK(some.price.time <= all.price.time * 102 / 100);
    CHECK(some.candidates == all.candidates);
    CHECK(some.priced <= all.priced);
  }
}

namespace {

/// A network of a few hosts whose links and hosts have different rates, and a collective to run.
struct Problem {
  Network network;
  CollectiveSpec task;
};

Problem random_problem(std::mt19937& random) {
  const auto below = [&](unsigned count) { return static_cast<unsigned>(random() % count); };
  const auto between = [&](double least, double most) {  // log-uniformly distributed
    return least * std::pow(most / least, below(1000) / 1000.0);
  };
  std::vector<std::size_t> sizes(1 + below(4));
  for (std::size_t& size : sizes) size = 1 + below(4);
  const double local = between(1e7, 1e10);
  const Side wide{std::chrono::microseconds(std::llround(between(200, 100'000))),
                  between(local / 4, local * 20)};
  Network network = uniform_network(std::make_shared<const Topology>(Topology::clustered(sizes)),
                                    {std::chrono::microseconds(10 + below(90)), local}, wide);
  if (below(3) == 0)
    for (tuning::LinkModel& host : network.outgoing)
      host = tuning::LinkModel(host.at(0ns).latency, local * (1 + below(2)));
  if (below(4) == 0)
    for (Link& link : network.links) link.stream_rate = wide.bits_per_second / (1 + below(8));
  const Collective collective =
      all_collectives[below(static_cast<unsigned>(std::size(all_collectives)))];
  const auto count = static_cast<Count>(between(8, 1 << 18));
  const Rank root = has_root(collective) ? below(network.topology->size()) : 0;
  CollectiveSpec task = make_spec(collective, network.topology, count, root);
  return {std::move(network), std::move(task)};
}

struct Found {
  double worse;  // (time - time of the best schedule) / time of the best schedule
  std::size_t candidates, priced;
};

Found compare(unsigned seed) {
  std::mt19937 random(seed);
  const Problem problem = random_problem(random);
  const Best some = best_of(problem.task, 1, problem.network);
  const Best all = best_of_all(problem.task, problem.network);
  INFO("seed " << seed << ": " << name_of(problem.task.collective) << " of "
               << problem.task.counts.total() << " for " << problem.task.size() << ": "
               << some.candidate.algorithm->name << ' ' << some.candidate.parameters.text() << ' '
               << some.price.time.count() << ", best " << all.candidate.algorithm->name << ' '
               << all.candidate.parameters.text() << ' ' << all.price.time.count());
  CHECK(some.price.time <= all.price.time * 102 / 100);
  CHECK(some.candidates == all.candidates);
  const auto took = [](const Best& best) { return static_cast<double>(best.price.time.count()); };
  return {all.price.time > 0ns ? took(some) / took(all) - 1 : 0, all.priced, some.priced};
}

}  // namespace

TEST_CASE("best: no omitted candidate is more than 2% faster on random networks") {
  for (unsigned seed = 0; seed < 20; ++seed) compare(seed);
}

TEST_CASE("best: on 200 random networks", "[.random]") {
  std::size_t candidates = 0, priced = 0;
  double worst = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Found found = compare(seed);
    candidates += found.candidates;
    priced += found.priced;
    worst = std::max(worst, found.worse);
  }
  WARN(priced << " of " << candidates << " priced; at most " << worst * 100 << "% worse");
}

TEST_CASE("best: for thousands of participants a good schedule is found among few candidates") {
  Network network = clusters(std::vector<std::size_t>(206, 10));
  network.message_cost = 100us;
  const CollectiveSpec task = make_spec(Collective::broadcast, network.topology, 8, 5);
  const Best best = best_of(task, 1, network);
  INFO(best.candidate.algorithm->name << ' ' << best.candidate.parameters.text());
  CHECK(best.priced < 100);
  CHECK(best.price.time >= bound_of(task, 1, network).time);
  for (const char* const other : {"tree", "tree:shape=postal,latency=32", "multilevel",
                                  "multilevel:shapes=kary/chain,arity=8"}) {
    const std::string text = other;
    const std::size_t colon = text.find(':');
    const Algorithm& algorithm = algorithm_named(text.substr(0, colon));
    const auto parameters = algorithm.read(colon == text.npos ? "" : text.substr(colon + 1));
    CHECK(best.price.time <= price(algorithm, task, parameters, 1, network).time);
  }
}

TEST_CASE("best: algorithms with another order of summation are left out") {
  const Network network = two_by_four();
  const CollectiveSpec task = make_spec(Collective::allreduce, network.topology, 100'000);
  for (const Family& family : families_of(task, 1, Order::canonical))
    for (const Candidate& candidate : family)
      CHECK(candidate.algorithm->order(task, candidate.parameters) == Order::canonical);
}
