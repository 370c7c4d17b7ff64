// SPDX-License-Identifier: Apache-2.0
// tests/collectives/cost/golden_prices_test.cpp — predicted times of known schedules, exact to the
// nanosecond.
#include <catch2/catch.hpp>

#include "collectives/algorithms/all.hpp"
#include "collectives/cost/evaluator.hpp"

using namespace collectives;
using namespace pricing;
using namespace std::chrono_literals;

namespace {

/// Returns a network of two clusters of four hosts, with 100 Mbit inside and 1 Gbit between the
/// clusters. Messages are not divided into frames.
Network two_by_four() {
  const auto topology = std::make_shared<const Topology>(Topology::clustered({4, 4}));
  Network network = uniform_network(topology, {50us, 100e6}, {10ms, 1e9});
  network.frame = unlimited;
  return network;
}

struct Row {
  Collective collective;
  std::string algorithm, parameters;
  std::int64_t microseconds_tenths;  // predicted time in tenths of a microsecond
  std::uint64_t messages, across;
  Bytes bytes_across;
};

constexpr Bytes mebibyte = 1 << 20;

void check(const Row& row) {
  const Network network = two_by_four();
  const Algorithm& algorithm = algorithm_named(row.algorithm);
  const CollectiveSpec task = make_spec(row.collective, network.topology, mebibyte);
  const Parameters parameters = algorithm.read(row.parameters);
  const Price price = pricing::price(algorithm, task, parameters, 1, network);
  INFO(row.algorithm << ' ' << row.parameters << ": " << price.time.count() << " ns");
  CHECK((price.time.count() + 50) / 100 == row.microseconds_tenths);
  CHECK(price.all.messages == row.messages);
  CHECK(price.across.messages == row.across);
  CHECK(price.across.bytes == row.bytes_across);
}

}  // namespace

TEST_CASE("golden: 1 MiB over two clusters of four with whole messages") {
  const auto broadcast = Collective::broadcast;
  const auto allreduce = Collective::allreduce;
  const std::vector<Row> rows{
      {broadcast, "tree", "shape=binomial", 261'7582, 7, 1, mebibyte},
      {broadcast, "farfirst", "allgather=doubling", 219'9152, 23, 1, mebibyte},
      {broadcast, "modified_van_de_geijn", "senders=1,allgather=doubling", 261'8582, 26, 4,
       mebibyte},
      {broadcast, "modified_van_de_geijn", "senders=2,allgather=doubling", 200'9908, 25, 4,
       mebibyte},
      {broadcast, "modified_van_de_geijn", "senders=4,allgather=doubling", 163'1921, 23, 4,
       mebibyte},
      {broadcast, "tree", "shape=chain,segment=16384", 102'0504, 448, 64, mebibyte},
      {allreduce, "recursive_doubling", "", 286'9241, 24, 8, 8 * mebibyte},
      {allreduce, "rabenseifner", "reduce_scatter=ring,allgather=ring", 187'3006, 112, 28,
       7 * mebibyte / 2},
      {allreduce, "two_tier", "reduce_scatter=halving,allgather=doubling", 345'9443, 46, 2,
       2 * mebibyte},
      {allreduce, "modified_rabenseifner", "senders=1,reduce_scatter=halving,allgather=doubling",
       219'9652, 46, 8, 2 * mebibyte},
      {allreduce, "modified_rabenseifner", "senders=2,reduce_scatter=halving,allgather=doubling",
       180'1193, 44, 8, 2 * mebibyte},
      {allreduce, "modified_rabenseifner", "senders=4,reduce_scatter=halving,allgather=doubling",
       163'2921, 40, 8, 2 * mebibyte},
      {allreduce, "modified_rabenseifner", "senders=4,reduce_scatter=direct,allgather=direct",
       163'1921, 56, 8, 2 * mebibyte},
      {allreduce, "clusters", "", 597'3026, 14, 2, 2 * mebibyte},
      {allreduce, "stretched", "stretch=65536,exchange=all", 153'3117, 896, 128, 2 * mebibyte},
  };
  for (const Row& row : rows) check(row);
}
