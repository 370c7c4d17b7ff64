// SPDX-License-Identifier: Apache-2.0
// tests/collectives/schedule/verifier_test.cpp — verification of every schedule of small groups,
// and of mutated schedules.
#include "collectives/schedule/verifier.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <iostream>
#include <map>
#include <memory>
#include <random>

#include "tests/collectives/schedule/every_schedule.hpp"
#include "tests/collectives/schedule/mutation.hpp"
#include "tests/collectives/schedule/proofs.hpp"

using namespace collectives;

namespace {

/// Counts the schedules of many groups, and collects the schedules that failed.
class Tally {
 public:
  void begin(const std::shared_ptr<const Topology>& group) {
    end();
    proofs_ = std::make_unique<Proofs>(group);
  }
  void see(const Algorithm& algorithm, const CollectiveSpec& task, const Parameters& parameters) {
    const std::string mistake = proofs_->mistake(algorithm, task, parameters);
    if (!mistake.empty())
      failures_.emplace(fmt::format("{} {}", algorithm.name, name_of(task.collective)),
                        ::text(algorithm, task, parameters) + ": " + mistake);
  }
  void check(std::size_t largest) {
    end();
    for (const auto& [what, why] : failures_) FAIL_CHECK(why);
    std::cout << fmt::format("{} schedules verified, {} of which differ, up to {} participants\n",
                             schedules_, verified_, largest);
    CHECK(failures_.empty());
  }

 private:
  void end() {
    if (!proofs_) return;
    schedules_ += proofs_->schedules();
    verified_ += proofs_->verified();
    proofs_.reset();
  }

  std::unique_ptr<Proofs> proofs_;
  std::size_t schedules_ = 0, verified_ = 0;
  std::map<std::string, std::string> failures_;  // first failure of each algorithm and collective
};

void verify_all(std::size_t smallest, std::size_t largest) {
  Tally tally;
  for (std::size_t participants = smallest; participants <= largest; ++participants)
    for (const auto& sizes : splits(participants, 4)) {
      const auto group = clustered(sizes);
      tally.begin(group);
      for_every_schedule(group, [&](const auto&... what) { tally.see(what...); });
    }
  tally.check(largest);
}

/// Returns a random group whose ranks are in random order. With probability 1/2 the group consists
/// of one cluster.
std::shared_ptr<const Topology> random_group(std::mt19937_64& random, std::size_t largest) {
  const auto below = [&](std::size_t limit) { return random() % limit; };
  std::vector<Topology::Path> paths(1 + below(largest), Topology::Path(below(4)));
  for (Topology::Path& path : paths)
    for (std::uint32_t& number : path) number = static_cast<std::uint32_t>(below(3));
  if (below(2) == 0)
    for (Topology::Path& path : paths)
      if (!path.empty()) path[0] = 0;
  return std::make_shared<const Topology>(paths);
}

}  // namespace

TEST_CASE("verifier: every schedule of up to 6 participants in up to 4 clusters holds") {
  verify_all(1, 6);
}

TEST_CASE("verifier: one in thirty schedules of 7 and 8 participants holds") {
  const std::uint64_t seed = 78;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  Tally tally;
  for (const std::size_t participants : {7, 8})
    for (const auto& sizes : splits(participants, 4)) {
      const auto group = clustered(sizes);
      tally.begin(group);
      for_every_schedule(group, [&](const auto&... what) {
        if (random() % 30 == 0) tally.see(what...);
      });
    }
  tally.check(8);
}

// The work is divided into several cases, so that several processes can do it at the same time.
// docs/explanation/collectives.md states the times of the cases.
TEST_CASE("verifier: every schedule of 7 to 12 participants in up to 4 clusters holds",
          "[.exhaustive]") {
  verify_all(7, 12);
}
TEST_CASE("verifier: every schedule of 13 participants in up to 4 clusters holds",
          "[.exhaustive]") {
  verify_all(13, 13);
}
TEST_CASE("verifier: every schedule of 14 participants in up to 4 clusters holds",
          "[.exhaustive]") {
  verify_all(14, 14);
}
TEST_CASE("verifier: every schedule of 15 participants in up to 4 clusters holds",
          "[.exhaustive]") {
  verify_all(15, 15);
}
TEST_CASE("verifier: every schedule of 16 participants in up to 4 clusters holds",
          "[.exhaustive]") {
  verify_all(16, 16);
}
TEST_CASE("verifier: every schedule of 17 participants in up to 4 clusters holds",
          "[.exhaustive]") {
  verify_all(17, 17);
}

TEST_CASE("verifier: schedules of random groups of several levels with ranks in no order hold") {
  const std::uint64_t seed = 12;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  Tally tally;
  for (int round = 0; round < 40; ++round) {
    const auto group = random_group(random, 17);
    tally.begin(group);
    for_every_schedule(group, [&](const auto&... what) {
      if (random() % 40 == 0) tally.see(what...);
    });
  }
  tally.check(17);
}

TEST_CASE("verifier: no algorithm declares a worse order of summation than it has") {
  std::map<std::pair<std::string, Order>, bool> is_reached;
  const auto see = [&](const Algorithm& algorithm, const CollectiveSpec& task,
                       const Parameters& values) {
    if (!is_reduction(task.collective) || task.collective == Collective::barrier) return;
    const Order declared = algorithm.order(task, values);
    bool& reached = is_reached[{algorithm.name, declared}];
    if (!reached) reached = verify(algorithm, task, values).order == declared;
  };
  const std::vector<Topology::Path> nested{{0, 0}, {0, 0}, {0, 1}, {0, 1},
                                           {1, 0}, {1, 0}, {1, 1}, {1, 1}};
  for (const auto& group : {clustered({8}), clustered({4, 4}), clustered({3, 5}),
                            std::make_shared<const Topology>(nested)})
    for_every_schedule(group, see);
  for (const auto& [what, reached] : is_reached) {
    INFO(what.first << " declares " << name_of(what.second));
    CHECK(reached);
  }
}

TEST_CASE(
    "verifier: dropped steps and wrong peers and wrong blocks and wrong channels are all found") {
  const std::uint64_t seed = 12;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  // For each kind of mutation: the number of mutations that the verifier detected, and the number
  // of all mutations.
  std::map<Mutation, std::pair<std::size_t, std::size_t>> found;
  const auto mutate = [&](const Algorithm& algorithm, const CollectiveSpec& task,
                          const Parameters& values) {
    if (task.size() < 2 || random() % 50 > 0) return;
    const Schedule schedule = schedule_of(algorithm, task, values);
    const auto rank = static_cast<Rank>(random() % schedule.size());
    if (schedule[rank].size() == 0) return;
    const std::size_t step = random() % schedule[rank].size();
    for (const Mutation mutation : all_mutations) {
      const std::size_t choice = random() % 100;
      const auto wrong = mutated(schedule, mutation, rank, step, choice);
      if (!wrong) continue;
      const bool holds = verify(task, *wrong).holds();
      ++found[mutation].second;
      if (!holds) ++found[mutation].first;
      if (holds && is_always_wrong(mutation))
        FAIL_CHECK(::text(algorithm, task, values)
                   << ": " << name_of(mutation) << " " << step << " of " << rank << ", "
                   << collectives::text(schedule[rank]));
    }
  };
  for (std::size_t participants = 2; participants <= 8; ++participants)
    for (const auto& sizes : splits(participants, 4)) for_every_schedule(clustered(sizes), mutate);
  for (const auto& [mutation, counts] : found) {
    std::cout << fmt::format("{}: {} of {} found\n", name_of(mutation), counts.first,
                             counts.second);
    CHECK(counts.second > 0);
    if (is_always_wrong(mutation)) CHECK(counts.first == counts.second);
  }
}
