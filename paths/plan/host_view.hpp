// SPDX-License-Identifier: Apache-2.0
// paths/plan/host_view.hpp — a host of a plan as what runs there sees it: names, clock, records.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "eventspace/recorder.hpp"
#include "paths/plan/plan.hpp"
#include "paths/travel_error.hpp"
#include "runtime/runtime.hpp"

namespace paths {

/// The deadline of a wait that begins now, as the config says.
runtime::Deadline deadline_of(const Plan& plan, const runtime::Runtime& runtime);

/// Where in a plan something runs, with whose clock, and by which names it fails. What only needs
/// that (joins, the rounds of roots) knows no connections and no stages.
///
/// Owns:    nothing; shares the plan, borrows runtime and recorder.
/// Sharing: any context may call anything.
class HostView {
 public:
  /// Nothing is recorded before the owner of `recorder` reserves room, which is before it starts.
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
  /// Where what happens here is recorded. A further deployment has its own.
  eventspace::Recorder& recorder() { return recorder_; }
  runtime::Deadline deadline() const;  ///< deadline_of()
  /// What went wrong in `wrapper`, on the way of `path`.
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
