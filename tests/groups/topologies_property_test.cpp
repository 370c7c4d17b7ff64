// SPDX-License-Identifier: Apache-2.0
// tests/groups/topologies_property_test.cpp — collectives of groups of any shape, over clusters
// with nested groups of hosts.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <set>

#include "groups/selection/network_of.hpp"
#include "paths/host/host.hpp"
#include "tests/groups/members.hpp"
#include "tests/groups/random_operations.hpp"
#include "tests/support/environment.hpp"

namespace {

using collectives::Collective;
using test_support::RandomGroup;
using test_support::Sim;
using test_support::Threads;

constexpr std::size_t hosts_max = 12;

/// Returns a random value for the config's key `hosts`: a number, or groups of hosts that are
/// nested at most `depth` levels deep.
std::string random_hosts(std::mt19937_64& random, std::size_t depth, std::size_t& left) {
  if (depth == 0) {
    const std::size_t hosts = 1 + random() % std::min<std::size_t>(3, left);
    left -= hosts;
    return fmt::format("{}", hosts);
  }
  std::string groups;
  const std::size_t most = 1 + random() % 3;
  for (std::size_t number = 0; number < most && left > 0; ++number)
    groups += fmt::format("{}g{}: {}", number > 0 ? ", " : "", number,
                          random_hosts(random, depth - 1, left));
  return "{" + groups + "}";
}

/// Returns a random config of 1 to 3 clusters with up to 12 hosts in total. Each cluster has up to
/// 3 levels of nested groups of hosts.
std::string random_topology(std::mt19937_64& random) {
  std::string config = "clusters:\n";
  const std::size_t clusters = 1 + random() % 3;
  const bool has_switches = random() % 4 == 0;
  for (std::size_t cluster = 0; cluster < clusters; ++cluster) {
    std::size_t left = hosts_max / clusters;
    config += fmt::format(
        "  c{}: {{hosts: {}, threads: {}{}, network: {{latency: 50us, bandwidth: 100Mbit}}}}\n",
        cluster, random_hosts(random, random() % 4, left), 1 + random() % 2,
        has_switches ? ", uplink: switch" : "");
  }
  if (clusters > 1) config += "links: {all: {latency: 2ms, bandwidth: 1Gbit}}\n";
  return config + "lanes:\n";
}

/// Returns the ranks of all threads on the hosts for which `is_meant` returns true.
template <class IsMeant>
Threads threads_of(const paths::Plan& plan, const IsMeant& is_meant) {
  Threads threads;
  for (const paths::Plan::PlanHost& host : plan.hosts)
    for (std::uint32_t thread = 0; is_meant(host) && thread < host.threads; ++thread)
      threads.push_back(host.first_thread + thread);
  return threads;
}

/// Returns random members: a whole cluster, part of a cluster, a group of hosts, one host, hosts of
/// several clusters, or some threads. The ranks of the members follow the order of the config or a
/// random order.
Threads random_members(std::mt19937_64& random, const paths::Plan& plan) {
  const paths::Plan::PlanHost& some = plan.hosts[random() % plan.hosts.size()];
  const auto is_near = [&](const paths::Plan::PlanHost& host) {
    return host.cluster == some.cluster;
  };
  const std::size_t levels = some.groups.empty() ? 0 : 1 + random() % some.groups.size();
  const auto is_in_group = [&](const paths::Plan::PlanHost& host) {
    return is_near(host) && std::equal(some.groups.begin(),
                                       some.groups.begin() + static_cast<std::ptrdiff_t>(levels),
                                       host.groups.begin());
  };
  const std::uint64_t shape = random() % 6;
  Threads threads = threads_of(plan, [&](const paths::Plan::PlanHost& host) {
    switch (shape) {
      case 0: return is_near(host);
      case 1: return is_near(host) && (&host == &some || random() % 2 == 0);
      case 2: return is_in_group(host);
      case 3: return &host == &some;
      case 4: return &host == &some || random() % 2 == 0;
      default: return true;
    }
  });
  if (shape == 5)
    std::erase_if(threads, [&](std::uint32_t thread) {
      return thread != some.first_thread && random() % 2 == 0;
    });
  if (random() % 3 == 0) std::shuffle(threads.begin(), threads.end(), random);
  return threads;
}

/// Checks that the topology of the group has the clusters of the config, with their hosts.
void check_clusters(const paths::Plan& plan, const groups::Group& group,
                    const std::vector<std::uint32_t>& hosts) {
  const collectives::Topology& topology = group.topology();
  std::set<std::uint32_t> clusters;
  for (const std::uint32_t host : hosts) clusters.insert(plan.hosts[host].cluster);
  CHECK(topology.clusters() == clusters.size());
  for (collectives::Rank left = 0; left < topology.size(); ++left)
    CHECK((topology.cluster_of(left) == topology.cluster_of(0)) ==
          (plan.hosts[hosts[left]].cluster == plan.hosts[hosts[0]].cluster));
}

std::vector<std::uint32_t> hosts_of(const paths::Plan& plan, const Threads& threads) {
  std::set<std::uint32_t> hosts;
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host)
    for (const std::uint32_t thread : threads)
      if (thread >= plan.hosts[host].first_thread &&
          thread < plan.hosts[host].first_thread + plan.hosts[host].threads)
        hosts.insert(host);
  return {hosts.begin(), hosts.end()};
}

/// Runs all collectives in a random config, with the group of all threads and with three other
/// groups.
void try_topology(std::uint64_t seed) {
  INFO("PATHS_SEED=" << seed);
  test_support::add_composition();
  std::mt19937_64 random(seed);
  const std::string config = random_topology(random);
  INFO(config);
  const Sim sim(config);
  std::vector<RandomGroup> all(4);
  all[0].threads.resize(sim.plan().thread_count());
  std::iota(all[0].threads.begin(), all[0].threads.end(), 0);
  std::vector<Collective> order(std::begin(collectives::all_collectives),
                                std::end(collectives::all_collectives));
  for (std::size_t number = 0; number < all.size(); ++number) {
    if (number > 0) all[number].threads = random_members(random, sim.plan());
    std::shuffle(order.begin(), order.end(), random);
    test_support::draw_operations(random, all[number], sim.plan(), order);
  }
  std::uint64_t wrong = 0, done = 0;
  sim.run_well([&](paths::Thread& thread) {
    for (std::size_t number = 0; number < all.size(); ++number) {
      const Threads& threads = all[number].threads;
      if (std::find(threads.begin(), threads.end(), thread.rank()) == threads.end()) continue;
      groups::Group group(thread, fmt::format("g{}", number), threads);
      if (group.rank() == 0) check_clusters(sim.plan(), group, hosts_of(sim.plan(), threads));
      wrong += test_support::wrong_operations_of(group, thread, all[number], seed + number);
      done += all[number].drawn.size();
    }
  });
  std::uint64_t members = 0;
  for (const RandomGroup& group : all) members += group.threads.size();
  CHECK(wrong == 0);
  CHECK(done == members * std::size(collectives::all_collectives));
}

}  // namespace

TEST_CASE("groups: every collective over any topology equals a serial reference",
          "[without_asan]") {
  const std::uint64_t first = test_support::from_environment("PATHS_SEED", 1);
  const std::uint64_t seeds =
      test_support::from_environment("PATHS_SEEDS", test_support::or_fewer(48));
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) try_topology(seed);
}

TEST_CASE("groups: members in one cluster of several can do every collective") {
  const Sim sim(R"(
clusters:
  sdsc: {hosts: {sp: 3}, network: {latency: 100us, bandwidth: 100Mbit}}
  ncsa: {hosts: {o2ka: 2, o2kb: 2}, network: {latency: 100us, bandwidth: 100Mbit}}
links: [{between: [sdsc, ncsa], latency: 30ms, bandwidth: 8Mbit}]
lanes: {}
)");
  sim.run_well([](paths::Thread& thread) {
    groups::Group world(thread);
    const auto site = world.split(thread.cluster() == "ncsa" ? 1 : 0);
    CHECK(site->topology().clusters() == 1);
    const std::vector<std::int64_t> mine{thread.rank()};
    std::vector<std::int64_t> all(site->size());
    site->run(groups::allgather(mine, all));
    CHECK(all.back() == (thread.cluster() == "ncsa" ? 6 : 2));
  });
}

TEST_CASE("groups: a collective of the config uses `best` in one cluster with groups") {
  const Sim sim(test_support::one_cluster("hosts: {g1: 2, g2: 2}") +
                "collectives: {sum: {operation: sum, template: i64, algorithm: best}}\n");
  sim.run_well([](paths::Thread& thread) {
    const paths::Result sum = thread.path("sum").move(base::Payload::of(std::int64_t{1}));
    CHECK(sum.payload.read<std::int64_t>() == 4);
  });
}
