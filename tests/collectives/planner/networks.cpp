// SPDX-License-Identifier: Apache-2.0
// tests/collectives/planner/networks.cpp — networks of uniform sites.
#include "tests/collectives/planner/networks.hpp"

using test_support::Sites;

Sites sites_of(std::vector<std::size_t> hosts, pricing::Side local, pricing::Side wide) {
  Sites sites{std::move(hosts), {}};
  for (std::size_t from = 0; from < sites.count(); ++from)
    for (std::size_t to = 0; to < sites.count(); ++to)
      sites.between.push_back(from == to ? local : wide);
  return sites;
}

std::vector<std::string> five_names() { return {"A0", "A1", "B0", "C0", "C1"}; }
