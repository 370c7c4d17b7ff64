// SPDX-License-Identifier: Apache-2.0
// tests/support/min3_networks.hpp — the sites of Gupta and Vadhiyar 2007, and how hosts with ports
// execute schedules over them.
#pragma once
#include <chrono>
#include <vector>

#include "bench/support/sites.hpp"
#include "collectives/cost/evaluator.hpp"

namespace test_support {

using bench::network_of;
using bench::Sites;

/// A0 A1 | B0 | C0 C1: small enough to be done by hand.
inline Sites five_hosts() {
  using namespace std::chrono_literals;
  const pricing::Side local{0ns, 800e6}, far{50ms, 8e6}, near{10ms, 80e6};
  return {{2, 1, 2}, {local, far, far, far, local, near, far, near, local}};
}

/// Tennessee, Belfast, Amsterdam, as table 2 of the paper has it: 8, 4 and 8 hosts.
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

/// Some of the sites, in that order: of the three, {1, 2} are those of Europe, {2} is one cluster.
inline Sites some_of(const Sites& all, const std::vector<std::size_t>& chosen) {
  Sites some;
  for (const std::size_t from : chosen) {
    some.hosts.push_back(all.hosts[from]);
    for (const std::size_t to : chosen) some.between.push_back(all.side(from, to));
  }
  return some;
}

/// A host sends one message at a time and receives one, in the order of its steps, whoever it is
/// with; sending holds it for a fixed cost more. Grants take no time.
inline pricing::Execution with_ports(base::Nanos cost, bool is_half_duplex = false) {
  return {.ports = {.sending = 1, .receiving = 1, .cost = cost, .is_half_duplex = is_half_duplex}};
}

}  // namespace test_support
