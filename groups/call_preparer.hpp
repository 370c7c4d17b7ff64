// SPDX-License-Identifier: Apache-2.0
// groups/call_preparer.hpp — validation of calls, and their schedules.
#pragma once
#include <memory>
#include <optional>

#include "groups/execution/machines.hpp"
#include "groups/execution/prepared_call.hpp"
#include "groups/group_view.hpp"
#include "runtime/wait.hpp"

namespace groups {

/// Validates the calls of a group and finds their schedules. Keeps the most recent ones.
///
/// Borrows:     the view.
/// Thread-safe: yes.
class CallPreparer {
 public:
  explicit CallPreparer(const GroupView& view) : view_(view) {}
  /// Tells which hosts can share a memory region. Must be called before the first call is prepared.
  void take_machines(const Machines& machines) { machines_ = &machines; }
  /// Validates a call and finds its schedule.
  /// Throws: UsageError for impossible counts, if no schedule supports the call, or if the schedule
  ///         needs a larger limit of unfinished steps or more ports (ports.hpp). A small limit is
  ///         accepted if messages can be sent by credit.
  std::shared_ptr<const PreparedCall> prepare(const Call& call);
  /// Returns the limits on simultaneous messages: those of a plan file if it is the schedule,
  /// otherwise those of the call.
  static const pricing::Ports& ports_of(const Call& call, const Selection& choice) {
    return choice.planned ? choice.planned->execution.ports : call.ports;
  }
  /// Returns the schedule of a prepared call. Throws: UsageError if no schedule supports the call.
  std::shared_ptr<const Selection> selection_of(const PreparedCall& prepared) const;

 private:
  Selector& selector_for(const Call& call) const {
    return call.selector ? *call.selector : *view_.selector();
  }
  void check_algorithm(const PreparedCall& prepared) const;
  void check_window(const Call& call, const PreparedCall& prepared) const;

  const GroupView& view_;
  const Machines* machines_ = nullptr;
  mutable runtime::Mutex mutex_;  // guards the cache and PreparedCall::choice
  PreparedCallCache cache_;
};

}  // namespace groups
