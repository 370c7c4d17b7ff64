// SPDX-License-Identifier: Apache-2.0
// wrappers/schedule.hpp — combination of the hosts' values by a schedule over lanes.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "groups/calls/call.hpp"
#include "paths/joins/reduction.hpp"
#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"

namespace groups {
class HostGroup;
}

namespace wrappers {

/// Returns the call that each host makes for a round of a declared collective. The call has no
/// arrays. `by` is the name of the schedule.
groups::Call declared_call(const paths::Reduction& reduction, const std::string& by);

/// Combines one value of each host that has threads, in each round. All these hosts get the same
/// result, bit for bit. A path therefore ends on the host where it begins.
///
/// Why:     Trees send whole values. Schedules divide values and use all links at the same time.
/// Blocks:  until the host has received all messages that it needs. The round fails if no message
///          arrives within the deadline of the config.
/// Throws:  TravelError. A failed round fails on all hosts that still need one of its messages;
///          later rounds continue. If a contributor ends, all later rounds fail.
/// Paper:   Matsuda et al. 2006; Karonis et al. 2000.
/// Context: runs in the context of the operation, which waits for messages, folds and copies.
/// Order:   Rounds may overtake each other.
class Schedule final : public paths::BlockingWrapper {
 public:
  /// `wrapper` is the wrapper's index in the plan. `collective` is the name of the collective that
  /// the wrapper serves. `by` is the name of the schedule.
  Schedule(paths::Deployment& deployment, std::uint32_t wrapper, std::string collective,
           std::string by, paths::Reduction reduction);
  paths::Result operate(paths::Operation operation, paths::Next next) override;
  bool sees_failed_operations() const override { return true; }
  void start() override;
  void stop() override { group_.reset(); }

 private:
  void join(paths::Operation& operation);
  void end(const paths::Operation& operation);

  paths::Deployment& deployment_;
  const std::uint32_t wrapper_;
  const std::string collective_, by_;
  const paths::Reduction reduction_;
  std::shared_ptr<groups::HostGroup> group_;
};

paths::WrapperKind schedule_kind();

}  // namespace wrappers
