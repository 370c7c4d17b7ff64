// SPDX-License-Identifier: Apache-2.0
// tests/collectives/tuner/schedules_test.cpp — search spaces of the schedules of a collective.
#include "collectives/tuner/schedules.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "collectives/tuner/search.hpp"

using namespace collectives;
using namespace std::chrono_literals;

namespace {

const pricing::Network two_clusters = pricing::uniform_network(
    std::make_shared<const Topology>(Topology::clustered({4, 4})), {50us, 1e9}, {10ms, 1e9});

tuner::Schedules schedules(const CollectiveSpec& task, std::size_t messages_most = 1 << 20) {
  return tuner::schedules_of(pricing::families_of(task, 8), task, 8, two_clusters,
                             tuner::predict_on(task, 8, two_clusters), messages_most);
}

}  // namespace

TEST_CASE("tuner: the space of a collective has its families, lengths in bytes and prices") {
  const CollectiveSpec task = make_spec(Collective::broadcast, two_clusters.topology, 32 * 1024);
  const tuner::Schedules all = schedules(task);
  REQUIRE(all.space.families.size() == all.families.size());
  std::set<std::string> names;
  for (std::size_t i = 0; i < all.families.size(); ++i) {
    const tuner::Family& family = all.space.families[i];
    INFO(family.name);
    CHECK(names.insert(family.name).second);
    REQUIRE(family.members.size() == all.families[i].size());
    CHECK(family.members.front().length == 0);
    for (std::size_t j = 1; j < family.members.size(); ++j)
      CHECK(family.members[j].length == std::uint64_t{256 * 1024} >> j);
  }
  CHECK(names.contains("tree:shape=chain"));
  CHECK(names.contains("tree:arity=2,shape=kary"));
  CHECK(std::any_of(names.begin(), names.end(),
                    [](const std::string& name) { return name.starts_with("multilevel:"); }));
  const tuner::Outcome outcome =
      tuner::search_named("predict")->choose(all.space, nullptr, tuner::Options{});
  REQUIRE(outcome.chosen);
  const pricing::Candidate& chosen = all.at(*outcome.chosen);
  const pricing::Price priced = price(*chosen.algorithm, task, chosen.parameters, 8, two_clusters);
  CHECK(priced.time == member_of(all.space, *outcome.chosen).predicted);
  CHECK(priced.time <= best_of(task, 8, two_clusters).price.time);
}

TEST_CASE("tuner: predictions far above the least one are left out") {
  const CollectiveSpec task = make_spec(Collective::broadcast, two_clusters.topology, 32 * 1024);
  std::size_t aborted = 0;
  for (const tuner::Family& family : schedules(task).space.families)
    for (const tuner::Member& one : family.members) aborted += !one.predicted.has_value();
  base::Nanos least = base::Nanos::max();
  const auto all = tuner::schedules_of(
      pricing::families_of(task, 8), task, 8, two_clusters,
      [&](const pricing::Candidate& one, base::Nanos limit) -> std::optional<base::Nanos> {
        const auto time = price(*one.algorithm, task, one.parameters, 8, two_clusters).time;
        CHECK((least == base::Nanos::max() || limit == 6 * least));
        least = std::min(least, time);
        aborted -= time >= limit;
        return time;
      });
  CHECK(aborted == 0);
}

TEST_CASE("tuner: lengths that need too many messages are left out, except the longest") {
  const CollectiveSpec task = make_spec(Collective::broadcast, two_clusters.topology, 1 << 20);
  const tuner::Schedules all = schedules(task);
  const tuner::Schedules few = schedules(task, 64);
  CHECK(few.space.families.size() == all.space.families.size());
  CHECK(few.space.size() < all.space.size());
  for (const pricing::Family& family : few.families)
    for (std::size_t i = 1; i < family.size(); ++i)
      CHECK(price(*family[i].algorithm, task, family[i].parameters, 8, two_clusters).all.messages <=
            64);
}

TEST_CASE("tuner: a barrier has configurations without lengths") {
  const tuner::Schedules all = schedules(make_spec(Collective::barrier, two_clusters.topology, 1));
  CHECK(all.space.size() > 3);
  for (const tuner::Family& family : all.space.families) CHECK(family.members[0].length == 0);
}

TEST_CASE("tuner: the paper's space has four trees and lengths from 8 B to the whole message") {
  const auto topology = std::make_shared<const Topology>(Topology::clustered({8}));
  for (const Collective collective : {Collective::broadcast, Collective::scatter}) {
    const CollectiveSpec task = make_spec(collective, topology, 8 * 1024);
    const auto families = tuner::families_of_paper(task, Order::canonical);
    REQUIRE(families.size() == 4);
    for (const pricing::Family& family : families)
      CHECK(family.size() == (collective == Collective::broadcast ? 14 : 17));
  }
  const auto thousand = make_spec(Collective::reduce, topology, 1000);
  const auto families = tuner::families_of_paper(thousand, Order::by_block);
  REQUIRE(families.size() == 4);
  CHECK(families[0].size() == 11);
  CHECK(families[0][1].parameters.number("segment") == 512);
  CHECK(tuner::families_of_paper(make_spec(Collective::alltoall, topology, 8), Order::by_block)
            .empty());
}
