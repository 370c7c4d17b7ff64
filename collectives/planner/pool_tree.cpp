// SPDX-License-Identifier: Apache-2.0
// collectives/planner/pool_tree.cpp — growth of pools host by host, and their division by classes
// of bandwidth.
#include "collectives/planner/pool_tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

namespace planning {
namespace {

constexpr double alike = 1.1;

/// Returns the bandwidth of a pair of hosts in the slower direction, in bits per second.
double affinity(const PairCosts& costs, Rank one, Rank other) {
  const auto rate = [&](Rank from, Rank to) {
    const double bits = costs.pair(from, to).bits_per_second;
    return bits > 0 ? bits : std::numeric_limits<double>::infinity();
  };
  return std::min(rate(one, other), rate(other, one));
}

double mean_affinity(const PairCosts& costs, const std::vector<Rank>& pool, Rank host) {
  double sum = 0;
  for (const Rank member : pool) sum += affinity(costs, member, host);
  return sum / static_cast<double>(pool.size());
}

/// Returns the host with which a pool begins: the first of the two hosts with the fastest link.
Rank seed_of(const PairCosts& costs, const std::vector<Rank>& hosts) {
  Rank seed = hosts.front();
  double fastest = 0;
  for (std::size_t one = 0; one < hosts.size(); ++one)
    for (std::size_t other = one + 1; other < hosts.size(); ++other)
      if (const double rate = affinity(costs, hosts[one], hosts[other]); rate > fastest) {
        fastest = rate;
        seed = hosts[one];
      }
  return seed;
}

/// Forms one part from some of `hosts`, as pools_by_bandwidth() describes. Removes the members of
/// the part from `hosts` and returns these members.
std::vector<Rank> take_pool(const PairCosts& costs, std::vector<Rank>& hosts, double threshold) {
  std::vector<Rank> pool{seed_of(costs, hosts)};
  std::erase(hosts, pool.front());
  while (!hosts.empty()) {
    Rank nearest = hosts.front();
    double largest = -1;
    for (const Rank host : hosts)
      if (const double mean = mean_affinity(costs, pool, host); mean > largest) {
        largest = mean;
        nearest = host;
      }
    if (largest < threshold) break;
    pool.push_back(nearest);
    std::erase(hosts, nearest);
  }
  std::sort(pool.begin(), pool.end());
  return pool;
}

std::vector<std::vector<Rank>> partition(const PairCosts& costs, std::vector<Rank> hosts,
                                         double threshold) {
  std::vector<std::vector<Rank>> parts;
  while (!hosts.empty()) parts.push_back(take_pool(costs, hosts, threshold));
  std::sort(parts.begin(), parts.end());
  return parts;
}

std::string megabits(double bits_per_second) {
  return fmt::format("{:.4g} Mbit/s", bits_per_second / 1e6);
}

Pool parted(const PairCosts& costs, std::vector<Rank> hosts, std::span<const double> classes,
            std::string reason) {
  Pool pool{.hosts = std::move(hosts), .parts = {}, .threshold = 0, .reason = std::move(reason)};
  for (std::size_t index = 0; index < classes.size(); ++index) {
    const auto parts = partition(costs, pool.hosts, classes[index]);
    if (parts.size() == 1) continue;
    pool.threshold = classes[index];
    if (parts.size() == pool.hosts.size()) break;
    for (const std::vector<Rank>& part : parts)
      pool.parts.push_back(parted(
          costs, part, classes.subspan(index + 1),
          part.size() == 1 ? fmt::format("alone: below {} to all others", megabits(classes[index]))
                           : fmt::format("at least {} on average to the hosts before",
                                         megabits(classes[index]))));
    break;
  }
  return pool;
}

std::vector<Rank> everybody(const PairCosts& costs) {
  std::vector<Rank> hosts(costs.hosts());
  std::iota(hosts.begin(), hosts.end(), Rank{0});
  return hosts;
}

void add_lines(const Pool& pool, std::span<const std::string> names, std::size_t depth,
               std::string& lines) {
  std::vector<std::string_view> members;
  for (const Rank host : pool.hosts) members.push_back(names[host]);
  lines += fmt::format(
      "{:{}}{}: {}{}\n", "", 2 * depth, fmt::join(members, " "), pool.reason,
      pool.threshold > 0 ? fmt::format("; parted at {}", megabits(pool.threshold)) : "");
  for (const Pool& part : pool.parts) add_lines(part, names, depth + 1, lines);
}

}  // namespace

std::vector<double> bandwidth_classes(const PairCosts& costs) {
  std::set<double> rates;
  for (Rank from = 0; from < costs.hosts(); ++from)
    for (Rank to = 0; to < costs.hosts(); ++to)
      if (from != to && costs.pair(from, to).bits_per_second > 0)
        rates.insert(costs.pair(from, to).bits_per_second);
  std::vector<double> classes;
  for (const double rate : rates)
    if (classes.empty() || rate > alike * classes.back()) classes.push_back(rate);
  return classes;
}

Pool pools_by_bandwidth(const PairCosts& costs) {
  return parted(costs, everybody(costs), bandwidth_classes(costs), "all hosts");
}

Pool declared_pools(const PairCosts& costs) {
  Pool pool{.hosts = everybody(costs), .parts = {}, .threshold = 0, .reason = "all hosts"};
  const collectives::Topology& topology = costs.topology();
  if (topology.clusters() == 1 || topology.clusters() == costs.hosts()) return pool;
  for (std::size_t cluster = 0; cluster < topology.clusters(); ++cluster) {
    const auto members = topology.cluster(cluster);
    Pool part{.hosts = {members.begin(), members.end()},
              .parts = {},
              .threshold = 0,
              .reason = "a declared cluster"};
    std::sort(part.hosts.begin(), part.hosts.end());
    pool.parts.push_back(std::move(part));
  }
  std::sort(pool.parts.begin(), pool.parts.end(),
            [](const Pool& left, const Pool& right) { return left.hosts < right.hosts; });
  return pool;
}

std::string text(const Pool& pool, std::span<const std::string> names) {
  std::vector<std::string> inner;
  for (const Pool& part : pool.parts) inner.push_back(text(part, names));
  if (inner.empty())
    for (const Rank host : pool.hosts) inner.push_back(names[host]);
  return fmt::format("({})", fmt::join(inner, " "));
}

std::string lines(const Pool& pool, std::span<const std::string> names) {
  std::string all;
  add_lines(pool, names, 0, all);
  return all;
}

}  // namespace planning
