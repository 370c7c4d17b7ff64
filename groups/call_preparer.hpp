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

/// Validates the calls of a group and finds their schedules. Caches the most recent calls and their
/// schedules.
///
/// Borrows:     the view.
/// Thread-safe: yes.
class CallPreparer {
 public:
  explicit CallPreparer(const GroupView& view) : view_(view) {}
  /// Sets which hosts can share a memory region. Must be called before the first prepare().
  /// `machines` must outlive this object.
  void take_machines(const Machines& machines) { machines_ = &machines; }
  /// Validates a call and finds its schedule.
  /// Throws: UsageError for impossible counts, or if no schedule supports the call. Also UsageError
  ///         if hosts would deadlock, because the schedule needs more unfinished steps than
  ///         Call::window allows, or more simultaneous messages than Call::ports allows. The limit
  ///         of unfinished steps is not checked if messages can be sent by credit.
  std::shared_ptr<const PreparedCall> prepare(const Call& call);
  /// Returns the limits on simultaneous messages. A planned schedule has limits of its own; other
  /// schedules use the limits of the call.
  static const pricing::Ports& ports_of(const Call& call, const Selection& choice) {
    return choice.planned ? choice.planned->execution.ports : call.ports;
  }
  /// Returns the schedule of a prepared call. The reference is valid as long as the call exists.
  /// Throws: UsageError if no schedule supports the call.
  const std::shared_ptr<const Selection>& selection_of(const PreparedCall& prepared) const;
  /// Returns the predicted time of a prepared call by the schedule `selection`
  /// (Selector::predict()).
  base::Nanos predict(const PreparedCall& prepared,
                      const std::shared_ptr<const Selection>& selection, bool on_links) const {
    return selector_for(prepared.call)
        .predict(selection, prepared.question.element_bytes, on_links);
  }

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
