// SPDX-License-Identifier: Apache-2.0
// tests/support/min3_networks.hpp — networks of Gupta and Vadhiyar 2007, and numbers of messages
// that a host sends and receives at once.
#pragma once
#include <chrono>
#include <vector>

#include "bench/support/sites.hpp"
#include "collectives/cost/evaluator.hpp"

namespace test_support {

using bench::network_of;
using bench::Sites;

/// Returns a network of five hosts in three clusters (A0 A1 | B0 | C0 C1), small enough to compute
/// results by hand.
inline Sites five_hosts() {
  using namespace std::chrono_literals;
  const pricing::Side local{0ns, 800e6}, far{50ms, 8e6}, near{10ms, 80e6};
  return {{2, 1, 2}, {local, far, far, far, local, near, far, near, local}};
}

/// Returns the network of table 2 of the paper: Tennessee, Belfast and Amsterdam with 8, 4 and 8
/// hosts.
inline Sites three_sites() {
  using namespace std::chrono_literals;
  return {{8, 4, 8},
          {{60us, 85.19e6},
           {50ms, 1.44e6},
           {50ms, 1.25e6},  //
           {50ms, 1.28e6},
           {60us, 289.33e6},
           {76ms, 4.75e6},
           {50ms, 1.16e6},
           {76ms, 4.75e6},
           {6us, 81.86e6}}};
}

/// Returns the chosen sites in the given order. For example, {1, 2} of three_sites() are the
/// European sites, and {2} is a single cluster.
inline Sites some_of(const Sites& all, const std::vector<std::size_t>& chosen) {
  Sites some;
  for (const std::size_t from : chosen) {
    some.hosts.push_back(all.hosts[from]);
    for (const std::size_t to : chosen) some.between.push_back(all.side(from, to));
  }
  return some;
}

/// Returns ports with which a host sends one message and receives one message at a time, in the
/// order of its steps. Each send occupies its host for an additional time of `cost`. Grants take no
/// time.
inline pricing::Execution with_ports(base::Nanos cost, bool is_half_duplex = false) {
  return {.ports = {.sending = 1, .receiving = 1, .cost = cost, .is_half_duplex = is_half_duplex}};
}

}  // namespace test_support
