// SPDX-License-Identifier: Apache-2.0
// bench/support/sites.hpp — random networks of distant, unequal sites
#pragma once
#include <chrono>
#include <random>
#include <vector>

#include "collectives/cost/network.hpp"

namespace bench {

/// Sites of a network, and the streams between the sites. A stream goes from a host of one site to
/// a host of another site. Each stream has a latency and a rate.
struct Sites {
  std::vector<std::size_t> hosts;
  std::vector<pricing::Side> between;  ///< indexed by `from * sites + to`, also within a site

  std::size_t count() const { return hosts.size(); }
  const pricing::Side& side(std::size_t from, std::size_t to) const {
    return between[from * count() + to];
  }
};

/// Returns a network in which each host sends and receives at its site's rate. Two sites are
/// connected by `streams` streams in each direction; 0 = unlimited. Each stream has the rate of the
/// connection, and each message uses one stream.
inline pricing::Network network_of(const Sites& sites, std::size_t streams) {
  pricing::Network network;
  network.topology =
      std::make_shared<const collectives::Topology>(collectives::Topology::clustered(sites.hosts));
  network.frame = pricing::unlimited;
  for (std::size_t from = 0; from < sites.count(); ++from) {
    const pricing::Side& own = sites.side(from, from);
    for (std::size_t host = 0; host < sites.hosts[from]; ++host) {
      network.outgoing.emplace_back(own.latency, own.bits_per_second);
      network.receiving.emplace_back(base::Nanos(0), own.bits_per_second);
    }
    for (std::size_t to = 0; to < sites.count(); ++to) {
      const pricing::Side& side = sites.side(from, to);
      pricing::Link link;
      link.model = tuning::LinkModel(side.latency - own.latency, 0);
      if (from != to) link.stream_rate = side.bits_per_second;
      if (from != to) link.streams = streams;
      network.links.push_back(link);
    }
  }
  return network;
}

/// Returns a random number below `end`. Unlike the numbers of std::uniform_int_distribution, it is
/// the same on all platforms.
inline std::uint64_t below(std::mt19937_64& chance, std::uint64_t end) { return chance() % end; }
inline double between(std::mt19937_64& chance, double least, double most) {
  return least + (most - least) * static_cast<double>(chance() >> 11) / 9007199254740992.0;
}

/// Returns sites of 2 to `most_hosts` hosts. Streams between sites have latencies of 5 to 80 ms and
/// rates of 1 to 20 Mbit/s. The rate of a direction differs from the rate of its pair of sites by
/// up to 20 %.
inline Sites random_sites(std::mt19937_64& chance, std::size_t sites, std::size_t most_hosts) {
  using namespace std::chrono_literals;
  Sites all{std::vector<std::size_t>(sites), std::vector<pricing::Side>(sites * sites)};
  for (std::size_t from = 0; from < sites; ++from) {
    all.hosts[from] = 2 + below(chance, most_hosts - 1);
    all.between[from * sites + from] = {50us, between(chance, 80e6, 1000e6)};
    for (std::size_t to = from + 1; to < sites; ++to) {
      const double rate = between(chance, 1e6, 20e6);
      const base::Nanos latency = 5ms + base::Nanos(below(chance, 75'000'000));
      all.between[from * sites + to] = {latency, rate * between(chance, 0.8, 1.2)};
      all.between[to * sites + from] = {latency, rate * between(chance, 0.8, 1.2)};
    }
  }
  return all;
}

/// Returns a network of five sites with 2 to 8 hosts each. Two sites are connected by 1, 2, 4 or 8
/// streams in each direction.
inline pricing::Network random_network(std::uint64_t seed) {
  std::mt19937_64 chance(seed);
  const std::size_t streams = std::size_t{1} << below(chance, 4);
  return network_of(random_sites(chance, 5, 8), streams);
}

}  // namespace bench
