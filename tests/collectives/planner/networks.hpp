// SPDX-License-Identifier: Apache-2.0
// tests/collectives/planner/networks.hpp — networks of sites that are not in the paper on Min³, and
// names of hosts.
#pragma once
#include <string>
#include <vector>

#include "bench/support/sites.hpp"
#include "tests/support/min3_networks.hpp"

using bench::below;
using bench::between;
using bench::random_sites;

/// Returns sites with the numbers of hosts in `hosts`. `local` describes connections inside a site,
/// `wide` describes connections between two sites.
test_support::Sites sites_of(std::vector<std::size_t> hosts, pricing::Side local,
                             pricing::Side wide);
inline pricing::Network one_site(std::size_t hosts, double megabits) {
  return network_of(sites_of({hosts}, {base::Nanos(0), megabits * 1e6}, {}), 0);
}

std::vector<std::string> five_names();
inline constexpr base::Nanos three_sites_overhead = std::chrono::microseconds(50);

/// Returns a copy of `execution` in which each host executes its steps in order, as plans assume.
inline pricing::Execution in_order(pricing::Execution execution) {
  execution.ports.are_in_order = true;
  return execution;
}
