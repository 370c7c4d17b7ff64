// SPDX-License-Identifier: Apache-2.0
// tests/collectives/planner/plan_test.cpp — plans as steps and as algorithms.
#include "collectives/planner/plan.hpp"

#include <catch2/catch.hpp>

#include "collectives/planner/contender.hpp"
#include "collectives/planner/min3.hpp"
#include "collectives/schedule/verifier.hpp"
#include "tests/collectives/planner/networks.hpp"

using namespace planning;
using namespace test_support;
using namespace std::chrono_literals;
using collectives::Counts;

namespace {

std::shared_ptr<const Plan> plan_of(const PairCosts& costs, const Counts& counts,
                                    std::size_t segments = 1) {
  return std::make_shared<const Plan>(
      min3(declared_pools(costs), costs, counts, pieces_of(counts, 1, segments)));
}

collectives::CollectiveSpec allgather(const PairCosts& costs, const Counts& counts) {
  return {collectives::Collective::allgather,
          std::make_shared<const collectives::Topology>(costs.topology()), counts, 0};
}

std::string verified(const PairCosts& costs, const std::shared_ptr<const Plan>& plan) {
  return verify(algorithm_of(plan, "planned", ""), allgather(costs, plan->counts), {}).mistake;
}

}  // namespace

TEST_CASE("plan: each host does its transfers in list order after placing its own block") {
  const auto plan = std::make_shared<Plan>();
  plan->hosts = 3;
  plan->counts = Counts::listed({2, 0, 1});
  plan->pieces = pieces_of(plan->counts, 1);
  plan->transfers = {{0, 1, 0}, {2, 0, 1}, {1, 2, 0}, {0, 1, 1}};
  const auto steps = [&](Rank me) {
    collectives::Steps own;
    append_steps(*plan, me, own);
    return text(own);
  };
  CHECK(steps(0) == "out[0:2]=in[0:2]; send>1 out[0:2]; recv<2 out[2:3]; send>1 out[2:3]");
  CHECK(steps(1) == "recv<0 out[0:2]; send>2 out[0:2]; recv<0 out[2:3]");
  CHECK(steps(2) == "out[2:3]=in[0:1]; send>0 out[2:3]; recv<1 out[0:2]");
}

TEST_CASE("plan: blocks of any length and their segments are gathered") {
  const PairCosts costs = PairCosts::of(network_of(five_hosts(), 0));
  CHECK(verified(costs, plan_of(costs, Counts::each(4, 5))) == "");
  CHECK(verified(costs, plan_of(costs, Counts::each(4, 5), 3)) == "");
  CHECK(verified(costs, plan_of(costs, Counts::listed({3, 0, 1, 7, 0}))) == "");
  CHECK(verified(costs, plan_of(costs, Counts::listed({0, 0, 9, 0, 0}), 4)) == "");
  CHECK(plan_of(costs, Counts::each(0, 5))->transfers.empty());
}

TEST_CASE("plan: a mistake in a plan is found") {
  const PairCosts costs = PairCosts::of(network_of(five_hosts(), 0));
  auto plan = std::make_shared<Plan>(*plan_of(costs, Counts::each(4, 5)));
  plan->transfers.pop_back();
  CHECK(verified(costs, plan) != "");
}

TEST_CASE("plan: segments are as equal as the elements allow or of equal length") {
  const auto lengths = [](const std::vector<Piece>& pieces) {
    std::vector<Bytes> all;
    for (const Piece& piece : pieces) all.push_back(piece.bytes);
    return all;
  };
  const Counts counts = Counts::listed({8, 0, 1, 4});
  CHECK(lengths(pieces_of(counts, 8, 3)) == std::vector<Bytes>{24, 24, 16, 8, 16, 8, 8});
  CHECK(lengths(pieces_of(counts, 8, 4, true)) == std::vector<Bytes>{16, 16, 16, 16, 8, 16, 16});
}

TEST_CASE("plan: the algorithm of a plan refuses tasks for which it was not planned") {
  const PairCosts costs = PairCosts::of(network_of(five_hosts(), 0));
  const auto algorithm = algorithm_of(plan_of(costs, Counts::each(4, 5)), "planned", "");
  CHECK(algorithm.why_not(allgather(costs, Counts::each(4, 5)), {}).empty());
  CHECK(algorithm.why_not(allgather(costs, Counts::each(5, 5)), {}) ==
        "it was planned for blocks of other lengths");
  const PairCosts two = PairCosts::of(one_site(2, 100));
  CHECK(algorithm.why_not(allgather(two, Counts::each(4, 2)), {}) ==
        "it was planned for 5 participants, and here are 2");
}

TEST_CASE("plan: plans with the same order have the same digest and others differ") {
  const PairCosts costs = PairCosts::of(network_of(five_hosts(), 0));
  const auto plan = plan_of(costs, Counts::each(4, 5));
  CHECK(plan->digest() == plan_of(costs, Counts::each(4, 5))->digest());
  CHECK(!(plan->digest() == plan_of(costs, Counts::each(5, 5))->digest()));
  Plan swapped = *plan;
  std::swap(swapped.transfers[0], swapped.transfers[1]);
  CHECK(!(plan->digest() == swapped.digest()));
}

TEST_CASE("plan: contenders that differ in window, credit or ports have different digests") {
  const PairCosts costs = PairCosts::of(network_of(five_hosts(), 0));
  const Contender contender = contender_of(*plan_of(costs, Counts::each(4, 5)), "one", {});
  const auto digest_with = [&](auto change) {
    Contender other = contender;
    change(other.execution);
    return other.digest();
  };
  using Execution = pricing::Execution;
  CHECK(contender.digest() == digest_with([](Execution&) {}));
  CHECK(!(contender.digest() == digest_with([](Execution& it) { it.window = 3; })));
  CHECK(!(contender.digest() == digest_with([](Execution& it) { it.credit = 5; })));
  CHECK(!(contender.digest() == digest_with([](Execution& it) { it.ports.sending = 2; })));
}
