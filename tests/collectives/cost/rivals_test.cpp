// SPDX-License-Identifier: Apache-2.0
// tests/collectives/cost/rivals_test.cpp — known times of allgathers of grid libraries over unequal
// sites (Gupta and Vadhiyar 2007).
#include <catch2/catch.hpp>

#include "collectives/algorithms/all.hpp"
#include "tests/support/min3_networks.hpp"

using namespace collectives;
using namespace std::chrono_literals;
using pricing::Network;
using pricing::Price;

namespace {

constexpr std::uint64_t any_number = 0;  // unlimited number of streams
constexpr pricing::Bytes block_bytes = 256 * 1024;
constexpr base::Nanos cost = 50us;  // time for which each message occupies a port

/// Returns the predicted time of the allgather `name`. Each host contributes one element of `bytes`
/// bytes.
Price price_of(const std::string& name, const Network& network, pricing::Bytes bytes,
               base::Nanos port_cost, const std::string& parameters = "") {
  const Algorithm& algorithm = algorithm_named(name);
  const CollectiveSpec task = make_spec(Collective::allgather, network.topology, 1);
  return pricing::price(algorithm, task, algorithm.read(parameters), bytes, network,
                        test_support::with_ports(port_cost));
}
double seconds(const Price& price) { return static_cast<double>(price.time.count()) / 1e9; }

Network three_sites(std::size_t streams) {
  return network_of(test_support::three_sites(), streams);
}

/// Returns a network in which each message holds its stream until the message has arrived. All
/// messages must have the same length.
Network held_to_arrival(Network network) {
  for (pricing::Link& link : network.links) {
    if (!link.has_streams()) continue;
    const double bits = 8.0 * block_bytes;
    const double latency = static_cast<double>(link.model.at(0ns).latency.count()) / 1e9;
    link.stream_rate = bits / (latency + bits / link.stream_rate);
    link.model = tuning::LinkModel(0ns, 0);
  }
  return network;
}

}  // namespace

TEST_CASE("rivals: blocks of a megabyte among five hosts of three sites match to the nanosecond") {
  const auto time = [](const std::string& name, std::size_t streams) {
    return price_of(name, network_of(test_support::five_hosts(), streams), 1'000'000, 0ns).time;
  };
  for (const std::size_t streams : {any_number, std::uint64_t{1}}) {
    CHECK(time("ring", streams) == 4200ms);
    CHECK(time("magpie", streams) == 4150ms);
    CHECK(time("mpich_g2", streams) == 4140ms);
  }
  // For elements of one byte, MPICH uses the dissemination algorithm.
  CHECK(time("mpich", any_number) == 4150ms);
  CHECK(time("mpich", 1) == 6100ms);
  CHECK(time("spreading", any_number) == 4200ms);
}

TEST_CASE(
    "rivals: schedules in which first members represent their sites gain nothing from more "
    "streams") {
  for (const std::size_t streams : {1, 2, 4, 8, 16}) {
    const Network network = three_sites(streams);
    INFO(streams << " streams");
    CHECK(seconds(price_of("magpie", network, block_bytes, cost)) == Approx(29.6).epsilon(0.005));
    CHECK(seconds(price_of("mpich_g2", network, block_bytes, cost)) == Approx(29.1).epsilon(0.005));
    CHECK(seconds(price_of("ring", network, block_bytes, cost)) == Approx(35.3).epsilon(0.005));
    CHECK(price_of("mpich", network, block_bytes, cost, "element=262144").time ==
          price_of("ring", network, block_bytes, cost).time);
  }
}

// In the paper's specification a message holds its stream until it has arrived. In this test a
// message holds its stream only until its last byte has been sent, so streams are free earlier.
TEST_CASE("rivals: spreading uses all streams because it sends more than necessary") {
  const std::vector<std::pair<std::size_t, double>> rows{
      {1, 159.8}, {2, 81.9}, {4, 45.6}, {8, 34.3}};
  for (const auto& [streams, known] : rows) {
    const Price price = price_of("spreading", three_sites(streams), block_bytes, cost);
    const Price held =
        price_of("spreading", held_to_arrival(three_sites(streams)), block_bytes, cost);
    INFO(streams << " streams: " << seconds(price) << " s, " << seconds(held) << " s if held");
    CHECK(seconds(held) == Approx(known).epsilon(0.05));
    CHECK(price.time <= held.time);
    CHECK(seconds(price) == Approx(known).epsilon(0.07));
    CHECK(price.across.bytes == 256 * block_bytes);
  }
}

TEST_CASE("rivals: first members of sites exchange exactly the blocks that the other sites lack") {
  // The three sites need 12, 16 and 12 blocks from other sites.
  for (const std::string name : {"magpie", "mpich_g2"})
    CHECK(price_of(name, three_sites(8), block_bytes, cost).across.bytes == 40 * block_bytes);
}

TEST_CASE("rivals: striping over all streams reduces the time accordingly") {
  struct Row {
    std::size_t streams;
    double magpie, mpich_g2, ring;
  };
  for (const Row& row :
       {Row{1, 29.6, 29.1, 35.3}, Row{2, 15.7, 15.1, 18.1}, Row{4, 8.71, 8.14, 9.54},
        Row{8, 5.23, 4.65, 5.24}, Row{16, 3.48, 2.91, 3.10}}) {
    Network network = three_sites(row.streams);
    network.striping = row.streams;
    network.frame = 4096;
    INFO(row.streams << " streams");
    CHECK(seconds(price_of("magpie", network, block_bytes, cost)) ==
          Approx(row.magpie).epsilon(0.05));
    CHECK(seconds(price_of("mpich_g2", network, block_bytes, cost)) ==
          Approx(row.mpich_g2).epsilon(0.05));
    CHECK(seconds(price_of("ring", network, block_bytes, cost)) == Approx(row.ring).epsilon(0.05));
  }
}
