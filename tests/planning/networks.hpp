// SPDX-License-Identifier: Apache-2.0
// tests/planning/networks.hpp — sites besides those of the paper, names, and chance.
#pragma once
#include <random>
#include <string>
#include <vector>

#include "tests/support/min3_networks.hpp"

/// As many sites as there are numbers of hosts, with that rate inside, and so much between any two.
test_support::Sites sites_of(std::vector<std::size_t> hosts, pricing::Side local,
                             pricing::Side wide);
inline pricing::Network one_site(std::size_t hosts, double megabits) {
  return network_of(sites_of({hosts}, {base::Nanos(0), megabits * 1e6}, {}), 0);
}

std::vector<std::string> five_names();
inline constexpr base::Nanos three_sites_overhead = std::chrono::microseconds(50);

/// Sites of 2 to `most_hosts` hosts, streams of 1 to 20 Mbit/s that differ by 20% by direction, 5
/// to 80 ms.
test_support::Sites random_sites(std::mt19937_64& chance, std::size_t sites,
                                 std::size_t most_hosts);

/// As plans are meant.
inline pricing::Execution in_order(pricing::Execution execution) {
  execution.ports.are_in_order = true;
  return execution;
}

/// The same on every machine, which those of the standard library are not.
inline std::uint64_t below(std::mt19937_64& chance, std::uint64_t end) { return chance() % end; }
inline double between(std::mt19937_64& chance, double least, double most) {
  return least + (most - least) * static_cast<double>(chance() >> 11) / 9007199254740992.0;
}
