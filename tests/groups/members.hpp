// SPDX-License-Identifier: Apache-2.0
// tests/groups/members.hpp — clusters, members and operations for tests of groups.
#pragma once
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "groups/group.hpp"
#include "tests/support/sim.hpp"

namespace test_support {

using Values = std::vector<std::int64_t>;
using Threads = std::vector<std::uint32_t>;

/// Config of two clusters with two hosts each. Hosts of the first cluster have two threads.
inline const std::string six_threads = R"(
clusters:
  alpha: {hosts: 2, threads: 2, network: {latency: 50us, bandwidth: 100Mbit}}
  beta: {hosts: 2, network: {latency: 50us, bandwidth: 100Mbit}}
links: [{between: [alpha, beta], latency: 10ms, bandwidth: 1Gbit}]
lanes:
)";

/// Returns the config of one cluster `a`. `hosts` is the text of the cluster's keys, for example
/// "hosts: 2, threads: 4".
inline std::string one_cluster(const std::string& hosts, const std::string& lanes = "{}") {
  return fmt::format(
      "clusters: {{a: {{{}, network: {{latency: 50us, bandwidth: 100Mbit}}}}}}\nlanes: {}\n", hosts,
      lanes);
}

/// Runs an allreduce in which each member contributes its rank in each of `size` elements. Checks
/// the result.
inline void sum_ranks(groups::Group& group, std::size_t size = 1,
                      const std::string& schedule = "best", std::size_t window = 0,
                      std::size_t receiving_ports = 0) {
  const Values in(size, group.rank());
  Values out(size);
  groups::Call call = groups::by(schedule, groups::allreduce(in, out, "sum"));
  call.window = window;
  call.ports.receiving = receiving_ports;
  group.run(call);
  CHECK(out == Values(size, std::int64_t{group.size()} * (group.size() - 1) / 2));
}

/// Calls `use` on each thread with a group of all threads. `order` gives the threads in the order
/// of their ranks. Returns the error of each member, indexed by rank; "" = no error.
inline std::vector<std::string> errors_of_members(const Sim& sim,
                                                  const std::function<void(groups::Group&)>& use,
                                                  const Threads& order = {}) {
  std::vector<std::string> all(sim.plan().thread_count(), "did not come");
  const SimResult result = sim.run([&](paths::Thread& thread) {
    const auto group = order.empty() ? std::make_unique<groups::Group>(thread)
                                     : std::make_unique<groups::Group>(thread, "all", order);
    try {
      use(*group);
      all[group->rank()] = "";
    } catch (const std::exception& error) {
      all[group->rank()] = error.what();
    }
  });
  CHECK(result.broke == "");
  CHECK(result.failures == std::vector<std::string>{});
  return all;
}

inline void check_all_contain(const std::vector<std::string>& all, const std::string& text) {
  for (const std::string& one : all) CHECK_THAT(one, Catch::Contains(text));
}

}  // namespace test_support
