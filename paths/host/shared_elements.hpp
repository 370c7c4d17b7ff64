// SPDX-License-Identifier: Apache-2.0
// paths/host/shared_elements.hpp — elements of a run in memory that its processes of one machine
// map.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "pastset/element.hpp"
#include "pastset/shared/space.hpp"
#include "paths/plan/plan.hpp"
#include "paths/wire/peers.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// What one host shares of its own, and maps of others, each of which has a shared space of its own
/// for what its config says is shared.
///
/// Sharing: any context may call anything.
class SharedElements {
 public:
  /// All outlive it.
  SharedElements(const runtime::Runtime& runtime, const Plan& plan, std::uint32_t host,
                 const Peers& peers);
  /// Whether hosts of this run share any: they are processes, which the plan lets share memory.
  bool are_shared() const { return are_shared_; }
  /// All of them are made when the first is asked for, so that nobody else makes one otherwise.
  std::shared_ptr<pastset::Element> make(const Plan::PlanElement& element);
  /// One of another host, which has made it; null, after a warning, when it cannot be mapped, as
  /// when it is not on this machine after all.
  std::shared_ptr<pastset::Element> map(const Plan::PlanElement& element);

 private:
  std::string space_of(std::uint32_t host) const;
  pastset::SharedSpace::Options options() const;
  std::unique_ptr<pastset::SharedSpace> make_space() const;

  const Plan& plan_;
  const std::uint32_t host_;
  const bool are_shared_;
  const std::string run_;
  runtime::Mutex mutex_;
  std::map<std::uint32_t, std::unique_ptr<pastset::SharedSpace>> spaces_;  // by their host
};

}  // namespace paths
