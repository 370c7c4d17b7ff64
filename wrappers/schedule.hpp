// SPDX-License-Identifier: Apache-2.0
// wrappers/schedule.hpp — combination of the hosts' values by a schedule over lanes.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "paths/joins/reduction.hpp"
#include "paths/wrapper.hpp"
#include "paths/wrapper_kind.hpp"

namespace groups {
class HostGroup;
}

namespace wrappers {

/// Combines one value of each host with threads in each round, and passes the result on. All hosts
/// get the same bits. A path thus ends on the host where it began.
///
/// Why:     Trees send whole values; schedules divide them and use all links at once.
/// Blocks:  until the host has all messages that it needs, at most for the config's deadline
///          without a message.
/// Throws:  TravelError: a failed round fails on all hosts that still need something of it; later
///          rounds go on. If a contributor ends, all later rounds fail.
/// Paper:   Matsuda et al. 2006; Karonis et al. 2000.
/// Context: the operation's, which waits for messages, folds and copies.
/// Order:   Rounds may overtake each other.
class Schedule final : public paths::BlockingWrapper {
 public:
  /// `wrapper` is the wrapper's index in the plan, `by` names the schedule, and `collective` is the
  /// graph that it serves.
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
