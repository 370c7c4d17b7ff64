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

/// Returns the deadline of a wait that begins now: the duration that the config declares, from now.
runtime::Deadline deadline_of(const Plan& plan, const runtime::Runtime& runtime);

/// Returns the costs of work on the hosts if the run simulates them: on the virtual clock, if the
/// config states costs. Otherwise returns nullptr.
const tuning::HostCosts* simulated_costs(const Plan& plan, const runtime::Runtime& runtime);

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
  /// Returns the value of OperationHead::until for an operation that begins now.
  base::Nanos operation_end() const { return runtime::end_of(runtime_, deadline()); }
  /// Returns the value of OperationHead::until for an operation from another host. `time_left` is
  /// the duration until its deadline; 0 = not stated, negative = the deadline has passed. A
  /// duration above Plan::deadline is reduced to Plan::deadline.
  base::Nanos operation_end(base::Nanos time_left) const;
  /// Returns the time at which an incomplete round of `wrapper` fails. `until` is the earliest
  /// OperationHead::until of its contributions. The round waits time_per_host() longer for each
  /// host above, so that a failure found by such a host arrives first.
  base::Nanos round_end(base::Nanos until, std::uint32_t wrapper) const;
  /// Returns how long a host waits beyond the deadline of an operation, for each other host that a
  /// failure or reply must pass. Operations over at most `hosts_max` hosts then fail within 1 s
  /// after their deadline. Hosts beyond that number do not prolong the wait.
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
