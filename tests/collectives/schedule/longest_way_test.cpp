// SPDX-License-Identifier: Apache-2.0
// tests/collectives/schedule/longest_way_test.cpp — longest chain of messages that wait for each
// other.
#include "collectives/schedule/longest_way.hpp"

#include <catch2/catch.hpp>

#include "collectives/algorithms/all.hpp"

using namespace collectives;
using namespace std::chrono_literals;

namespace {

std::shared_ptr<const Topology> equal_clusters(std::size_t clusters, std::size_t participants) {
  return std::make_shared<const Topology>(
      Topology::clustered(std::vector<std::size_t>(clusters, participants / clusters)));
}

Way way_of(const std::string& name, const std::string& parameters, const CollectiveSpec& task) {
  const Algorithm& algorithm = algorithm_named(name);
  return longest_way(schedule_of(algorithm, task, algorithm.read(parameters)),
                     [&](Rank from, Rank to) -> base::Nanos {
                       const Topology& group = task.group();
                       return group.cluster_of(from) == group.cluster_of(to) ? 1us : 1ms;
                     });
}

/// Returns the largest number of crossings between clusters in a chain of messages, over all chains
/// and roots.
long crossings(const std::string& name, std::size_t clusters, std::size_t participants) {
  long most = 0;
  for (Rank root = 0; root < participants; ++root)
    most = std::max<long>(most, way_of(name, "",
                                       make_spec(Collective::broadcast,
                                                 equal_clusters(clusters, participants), 1, root))
                                        .time /
                                    1ms);
  return most;
}

/// Returns the largest number of crossings in a binomial tree, over all roots. Participants are
/// numbered from the root, which is 0. The number of a parent is the child's number with the lowest
/// 1 bit cleared; the parent of 6 (110) is 4 (100).
long binomial_crossings(std::size_t clusters, std::size_t participants) {
  long most = 0;
  for (std::size_t root = 0; root < participants; ++root)
    for (std::size_t leaf = 1; leaf < participants; ++leaf) {
      const auto cluster = [&](std::size_t at) {
        return (at + root) % participants / (participants / clusters);
      };
      long crossed = 0;
      for (std::size_t at = leaf; at > 0; at &= at - 1)
        crossed += cluster(at) == cluster(at & (at - 1)) ? 0 : 1;
      most = std::max(most, crossed);
    }
  return most;
}

}  // namespace

TEST_CASE("longest way: levels save all crossings except one for any root") {
  // Karonis et al. 2002: in a binomial tree the number of crossings is up to the logarithm of the
  // number of clusters.
  struct Row {
    std::size_t clusters, participants;
    long binomial;
  };
  for (const auto& [clusters, participants, binomial] :
       {Row{2, 64, 2}, {4, 64, 3}, {8, 64, 4}, {16, 64, 5}, {3, 36, 3}, {5, 60, 3}}) {
    INFO(clusters << " clusters");
    CHECK(binomial_crossings(clusters, participants) == binomial);
    CHECK(crossings("tree", clusters, participants) == binomial);
    CHECK(crossings("multilevel", clusters, participants) == 1);
  }
}

TEST_CASE("longest way: a chain passes all participants in order") {
  const CollectiveSpec task = make_spec(Collective::broadcast, equal_clusters(2, 6), 3, 2);
  const Way way = way_of("tree", "shape=chain,segment=1", task);
  CHECK(way.hosts == std::vector<Rank>{2, 3, 4, 5, 0, 1});
  CHECK(way.hops() == 5);
  CHECK(way.time == 2ms + 3us);
}

TEST_CASE("longest way: the chain of a summed value continues from the last operand to arrive") {
  const CollectiveSpec task = make_spec(Collective::allreduce, equal_clusters(2, 4), 1);
  const Way way = way_of("recursive_doubling", "", task);
  CHECK(way.hops() == 2);
  CHECK(way.time == 1ms + 1us);
}

TEST_CASE("longest way: independent data form no chain") {
  const CollectiveSpec task = make_spec(Collective::alltoall, equal_clusters(1, 5), 1);
  CHECK(way_of("pairwise", "", task).hops() == 1);
}

TEST_CASE("longest way: a single participant has no chain and a blocked schedule is reported") {
  CHECK(
      way_of("tree", "", make_spec(Collective::broadcast, equal_clusters(1, 1), 1)).hosts.empty());
  Schedule sticking(2);
  sticking[0].receive(1, Block{out, {0, 1}});
  CHECK_THROWS_AS(longest_way(sticking, [](Rank, Rank) { return 1ns; }), std::invalid_argument);
}
