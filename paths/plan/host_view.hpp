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

/// Returns the deadline of a wait that begins now: the current time plus Plan::deadline.
runtime::Deadline deadline_of(const Plan& plan, const runtime::Runtime& runtime);

/// Returns the costs of work on the hosts, which a run on the virtual clock simulates. Returns
/// nullptr on the steady clock, or if the config states no costs.
const tuning::HostCosts* simulated_costs(const Plan& plan, const runtime::Runtime& runtime);

/// Names, clock and recorder of a host of a plan. Joins, and rounds at the roots of clusters, need
/// only this part of a host. They therefore do not depend on connections and stages.
///
/// Owns: nothing. Shares the plan; borrows runtime and recorder.
/// Thread-safe: yes.
class HostView {
 public:
  /// The owner of `recorder` reserves the recorder's memory before the host starts. Until then
  /// `recorder` stores nothing.
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
  /// Returns the recorder for events on this host. Each deployment by Host::deploy() has a recorder
  /// of its own.
  eventspace::Recorder& recorder() { return recorder_; }
  runtime::Deadline deadline() const;  ///< deadline of a wait that begins now
  /// Returns the value of OperationHead::until for an operation that begins now.
  base::Nanos operation_end() const { return runtime::end_of(runtime_, deadline()); }
  /// Returns the value of OperationHead::until for an operation from another host. `time_left` is
  /// the duration until the operation's deadline; 0 = not stated, negative = the deadline has
  /// passed. A duration above Plan::deadline is reduced to Plan::deadline.
  base::Nanos operation_end(base::Nanos time_left) const;
  /// Returns the time at which an incomplete round of `wrapper` fails. `until` is the earliest
  /// OperationHead::until of the round's contributions. The round waits time_per_host() longer for
  /// each other host that contributions pass before they arrive at `wrapper`, for at most hosts_max
  /// hosts. A failure that one of these hosts finds then arrives before the round fails.
  base::Nanos round_end(base::Nanos until, std::uint32_t wrapper) const;
  /// Returns the additional time that a host waits after the deadline of an operation, per host
  /// that a failure or reply must pass. Operations over at most `hosts_max` hosts then fail within
  /// 1 s after their deadline. Hosts beyond that number do not prolong the wait.
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
