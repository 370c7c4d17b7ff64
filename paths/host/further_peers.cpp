// SPDX-License-Identifier: Apache-2.0
// paths/host/further_peers.cpp — one copy per process of the host numbers and peers of a plan.
#include "paths/host/further_peers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/near_match.hpp"
#include "base/usage_error.hpp"
#include "paths/host/peers_of.hpp"
#include "runtime/wait.hpp"

namespace paths {
namespace {

std::vector<std::uint32_t> numbers_of(const std::string& label, const Plan& run_plan,
                                      const Plan& plan) {
  std::vector<std::uint32_t> numbers;
  std::vector<std::string> wrong;
  for (const Plan::PlanHost& host : plan.hosts) {
    if (const auto number = run_plan.host_named(host.name)) {
      numbers.push_back(*number);
      continue;
    }
    std::vector<std::string_view> names;
    for (const Plan::PlanHost& known : run_plan.hosts) names.push_back(known.name);
    const auto near = base::near_match(host.name, names);
    wrong.push_back(
        fmt::format("{}{}", host.name, near ? fmt::format(" (did you mean '{}'?)", *near) : ""));
  }
  if (!wrong.empty())
    throw base::UsageError(
        fmt::format("deployment '{}': its plan names hosts that the run does not have: {}", label,
                    fmt::join(wrong, ", ")));
  return numbers;
}

/// Data that the hosts of one plan share. The memory addresses of `plan` and `run` are the key of
/// this data in a table. Made owns `plan` and `run`, so that no later object gets the same address
/// while the data exists.
struct Made {
  std::shared_ptr<const Plan> plan;
  std::shared_ptr<const Peers> run;
  std::vector<std::uint32_t> numbers;
  Peers peers;
};

std::shared_ptr<const Made> make(const std::string& label, const Plan& run_plan,
                                 const std::shared_ptr<const Peers>& run,
                                 const std::shared_ptr<const Plan>& plan) {
  auto made = std::make_shared<Made>();
  made->plan = plan;
  made->run = run;
  made->numbers = numbers_of(label, run_plan, *plan);
  made->peers = *peers_of(*plan, run->run);
  // In a further plan, each host has the same network address as in the run.
  for (std::size_t host = 0; host < made->numbers.size(); ++host)
    made->peers.hosts[host].address = run->hosts[made->numbers[host]].address;
  return made;
}

}  // namespace

FurtherPeers further_peers(const std::string& label, const Plan& run_plan,
                           const std::shared_ptr<const Peers>& run,
                           const std::shared_ptr<const Plan>& plan) {
  static runtime::Mutex mutex;
  static std::map<std::pair<const Plan*, const Peers*>, std::weak_ptr<const Made>> all;
  const runtime::Lock lock(mutex);
  std::shared_ptr<const Made> made;
  if (const auto known = all.find({plan.get(), run.get()}); known != all.end())
    made = known->second.lock();
  if (made == nullptr) {
    made = make(label, run_plan, run, plan);
    std::erase_if(all, [](const auto& one) { return one.second.expired(); });
    all[{plan.get(), run.get()}] = made;
  }
  return {HostNumbers(made, &made->numbers), std::shared_ptr<const Peers>(made, &made->peers)};
}

}  // namespace paths
