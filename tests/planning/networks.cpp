// SPDX-License-Identifier: Apache-2.0
// tests/planning/networks.cpp — sites that are alike, and random ones.
#include "tests/planning/networks.hpp"

using namespace std::chrono_literals;
using test_support::Sites;

Sites sites_of(std::vector<std::size_t> hosts, pricing::Side local, pricing::Side wide) {
  Sites sites{std::move(hosts), {}};
  for (std::size_t from = 0; from < sites.count(); ++from)
    for (std::size_t to = 0; to < sites.count(); ++to)
      sites.between.push_back(from == to ? local : wide);
  return sites;
}

std::vector<std::string> five_names() { return {"A0", "A1", "B0", "C0", "C1"}; }

Sites random_sites(std::mt19937_64& chance, std::size_t sites, std::size_t most_hosts) {
  Sites all = sites_of(std::vector<std::size_t>(sites), {}, {});
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
