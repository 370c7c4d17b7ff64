// SPDX-License-Identifier: Apache-2.0
// wrappers/schedule.hpp — what hosts have joined is joined between them, by a schedule over lanes.
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

/// Takes one value of each host with threads, a round at a time, and goes on with what all of them
/// come to: on every host, with the same bits. So a path ends on the host where it began.
///
/// Why:     trees send whole values; schedules part them and use all links at once (Matsuda et al.
///          2006, Karonis et al. 2000).
/// Context: what came, which waits for messages, folds and copies.
/// Blocks:  until all hosts have what they need of the others, at most for the config's deadline
///          without a message.
/// Order:   rounds may overtake each other.
/// Throws:  TravelError: a round that fails, here or on another host, fails for all who still need
///          something of it; the next ones go on. When a contributor ends, all that come later do.
class Schedule final : public paths::BlockingWrapper {
 public:
  /// `wrapper` is its index in the plan; `by` names the schedule, `collective` what it is for: the
  /// graph.
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
