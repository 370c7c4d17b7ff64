// SPDX-License-Identifier: Apache-2.0
// paths/plan/machines.cpp — numbers of the machines of a plan's hosts
#include "paths/plan/machines.hpp"

#include <map>
#include <string>

#include "paths/one_machine.hpp"

namespace paths {

std::vector<std::uint32_t> machines_of(const Plan& plan) {
  std::vector<std::uint32_t> machines;
  std::map<std::string, std::uint32_t> numbers;
  std::uint32_t next = 0;
  for (const Plan::PlanHost& host : plan.hosts) {
    const std::string machine = machine_of(host.address);
    const bool is_new = machine.empty() || numbers.try_emplace(machine, next).second;
    machines.push_back(is_new ? next++ : numbers.at(machine));
  }
  return machines;
}

}  // namespace paths
