// SPDX-License-Identifier: Apache-2.0
// paths/plan/host_view.hpp — host of a plan as its wrappers see it: names, clock and recorder.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "eventspace/recorder.hpp"
#include "paths/plan/plan.hpp"
#include "paths/travel_error.hpp"
#include "runtime/continuation.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// Returns the deadline of a wait that begins now, as the config declares it.
runtime::Deadline deadline_of(const Plan& plan, const runtime::Runtime& runtime);

/// Names, clock and recorder of a host of a plan. Joins and rounds at roots need only these, so
/// they do not depend on connections and stages.
///
/// Owns: nothing. Shares the plan; borrows runtime and recorder.
/// Thread-safe: yes.
class HostView {
 public:
  /// `recorder` stores nothing until its owner reserves memory for it, before the host starts.
  HostView(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan, std::uint32_t index,
           eventspace::Recorder& recorder)
      : runtime_(runtime), plan_(std::move(plan)), index_(index), recorder_(recorder) {}
  HostView(const HostView&) = delete;
  HostView& operator=(const HostView&) = delete;

  const std::string& name() const { return plan_->hosts[index_].name; }
  std::uint32_t index() const { return index_; }
  const Plan& plan() const { return *plan_; }
  const std::shared_ptr<const Plan>& shared_plan() const { return plan_; }
  runtime::Runtime& runtime() const { return runtime_; }
  /// Returns the recorder for events on this host. Each additional deployment has a recorder of its
  /// own.
  eventspace::Recorder& recorder() { return recorder_; }
  runtime::Deadline deadline() const;  ///< deadline of a wait that begins now
  /// Returns OperationHead::until of an operation that enters now.
  base::Nanos operation_end() const { return runtime::end_of(runtime_, deadline()); }
  /// Returns OperationHead::until of an operation with this time left; 0 = not stated, negative =
  /// its deadline has passed. An operation of another host gets at most the deadline of this plan.
  base::Nanos operation_end(base::Nanos time_left) const;
  /// Returns the time at which a round of `wrapper` fails. `until` is the earliest
  /// OperationHead::until of its contributions. Failures of the hosts above arrive before, because
  /// they have time_per_host() for each host that they pass.
  base::Nanos round_end(base::Nanos until, std::uint32_t wrapper) const;
  /// Returns the time that a failure or a reply has for its way over one host, beyond the deadline
  /// of the operation. Operations over at most `hosts_max` hosts then fail within 1 s after their
  /// deadline. Beyond that number, failures get no more time.
  base::Nanos time_per_host() const;
  static constexpr std::uint32_t hosts_max = 4;
  /// Returns a failure that names this host, `wrapper` and the path with the index `path`.
  Failure failure(const std::string& wrapper, std::uint32_t path, const std::string& reason,
                  FailureCause cause = FailureCause::other) const;

 protected:
  ~HostView() = default;
  runtime::Runtime& runtime_;
  const std::shared_ptr<const Plan> plan_;
  const std::uint32_t index_;

 private:
  eventspace::Recorder& recorder_;
};

}  // namespace paths
