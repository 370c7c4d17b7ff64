// SPDX-License-Identifier: Apache-2.0
// paths/host/elements/shared_elements.hpp — elements in memory that processes of one machine share.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "pastset/element.hpp"
#include "pastset/shared/space.hpp"
#include "paths/plan/plan.hpp"
#include "paths/wire/peers.hpp"
#include "runtime/wait.hpp"

namespace paths {

/// Elements that a host shares with other processes of its machine, and elements of these processes
/// that the host maps. Each host has one shared space, for those of its elements that the config
/// declares as shared.
///
/// Thread-safe.
class SharedElements {
 public:
  /// All arguments outlive this object.
  SharedElements(const Plan& plan, std::uint32_t host, const Peers& peers);
  /// Returns whether hosts of this run share elements: if each host is a process, and the plan
  /// allows shared memory.
  bool are_shared() const { return are_shared_; }
  /// Returns whether each host of the run is a process.
  bool are_between_processes() const { return are_between_processes_; }
  /// Returns a shared element of this host. The first call makes all shared elements of this host.
  /// Why: until an element exists, another process could make it with different options.
  std::shared_ptr<pastset::Element> make(const Plan::PlanElement& element);
  /// Maps an element that another host has made, and returns the element. If the element cannot be
  /// mapped, for example because it is on another machine, prints a warning and returns nullptr.
  std::shared_ptr<pastset::Element> map(const Plan::PlanElement& element);

 private:
  std::string space_of(std::uint32_t host) const;
  pastset::SharedSpace::Options options() const;
  std::unique_ptr<pastset::SharedSpace> make_space() const;

  const Plan& plan_;
  const std::uint32_t host_;
  const bool are_between_processes_, are_shared_;
  const std::string run_;
  runtime::Mutex mutex_;
  std::map<std::uint32_t, std::unique_ptr<pastset::SharedSpace>> spaces_;  // keyed by host
};

}  // namespace paths
