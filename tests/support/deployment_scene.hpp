// SPDX-License-Identifier: Apache-2.0
// tests/support/deployment_scene.hpp — many deployments on changing hosts of a run, with failures
// and skipped deployments.
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/random.hpp"
#include "tests/support/sim.hpp"

namespace test_support {

/// Returns the config of one cluster with hosts h0, h1 and so on. Each host has one thread, and all
/// threads share an allreduce.
inline std::string config_of(const std::set<std::uint32_t>& hosts, const std::string& more = "",
                             const std::string& deadline = "2s") {
  std::vector<std::string> names;
  for (const std::uint32_t host : hosts) names.push_back(fmt::format("h{}", host));
  return fmt::format(
      "deadline: {}\n{}"
      "clusters: {{alpha: {{hosts: [{}], threads: 1}}}}\n"
      "collectives: {{sum: {{operation: sum, template: f64}}}}\n",
      deadline, more, fmt::join(names, ", "));
}

inline std::set<std::uint32_t> first_hosts(std::uint32_t count) {
  std::set<std::uint32_t> hosts;
  for (std::uint32_t host = 0; host < count; ++host) hosts.insert(hosts.end(), host);
  return hosts;
}

inline double sum_of(const std::set<std::uint32_t>& hosts) {
  double sum = 0;
  for (const std::uint32_t host : hosts) sum += host;
  return sum;
}

struct PlannedDeployment {
  std::set<std::uint32_t> hosts;
  std::shared_ptr<const paths::Plan> plan;
  std::uint32_t throws = UINT32_MAX, skips = UINT32_MAX;  // rank of a thread; UINT32_MAX = none
  std::string label;
};

/// Returns deployments of 2 to 6 hosts each. In every fourth deployment, one host throws. In every
/// `skipped_every`-th deployment, one host does not take part.
inline std::vector<PlannedDeployment> many_deployments(std::uint32_t count,
                                                       std::uint32_t host_count,
                                                       std::uint32_t skipped_every,
                                                       const std::string& deadline) {
  runtime::Random random(11, 0);
  std::vector<PlannedDeployment> all(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    PlannedDeployment& one = all[i];
    while (one.hosts.size() < 2 + i % 5)
      one.hosts.insert(static_cast<std::uint32_t>(random.below(host_count)));
    const std::vector<std::uint32_t> members(one.hosts.begin(), one.hosts.end());
    if (i % 4 == 1) one.throws = members[random.below(members.size())];
    if (i % skipped_every == 2) one.skips = members[random.below(members.size())];
    one.label = fmt::format("group.{}", i);
    one.plan = Sim(config_of(one.hosts, "", deadline)).shared_plan();
  }
  return all;
}

/// Deploys `one` on the thread's host, uses the deployment for three rounds and ends it. The thread
/// of rank `one.throws` fails in the last round. Returns false if a round or the deployment threw a
/// TravelError.
inline bool take_part(paths::Thread& thread, const PlannedDeployment& one) {
  bool has_worked = false;
  try {
    const auto deployment = thread.host().deploy(one.label, one.plan);
    try {
      paths::Thread member(*deployment, 0, 1);
      for (std::uint32_t round = 0; round < 3; ++round) {
        if (one.throws == thread.rank() && round == 2) {
          member.fail(thrown_text);
          break;
        }
        const double sum =
            member.path("sum").move_value(double(thread.rank())).payload.read<double>();
        if (sum != sum_of(one.hosts)) throw std::logic_error("another sum");
      }
      has_worked = true;
    } catch (const paths::TravelError&) {
    }
    deployment->finish();
  } catch (const paths::TravelError&) {
  }
  return has_worked;
}

}  // namespace test_support
