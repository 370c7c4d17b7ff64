// SPDX-License-Identifier: Apache-2.0
// groups/execution/tracing.hpp — trace records of a host's part in its groups' operations.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "eventspace/group_record.hpp"
#include "groups/calls/call.hpp"
#include "groups/calls/layout.hpp"
#include "paths/host/deployment.hpp"
#include "runtime/wait.hpp"

namespace groups {

class GroupTrace;

/// Counters that the traces of all groups of one host share.
///
/// Thread-safe: yes. Callers must hold `mutex` when they use `made`.
struct TraceNumbers {
  std::atomic<std::uint32_t> shares = 0;
  runtime::Mutex mutex;
  /// Number of groups created under each name; guarded by mutex.
  std::map<std::string, std::uint32_t> made;
};

/// Schedule of an operation, as a trace names it.
struct ScheduleTrace {
  std::string algorithm;
  std::string reason = {};   ///< how the schedule was chosen; "" if there was no choice
  std::string row = {};      ///< line number of the row of the table of decisions; "" = none
  base::Nanos predicted{0};  ///< predicted time of the operation; 0 = not predicted
  double measured_per_predicted = 0;  ///< see GroupPrediction::measured_per_predicted
};

/// Trace of one host's part of an operation.
///
/// Thread-safe: no. came() requires the group's lock. Any context may call waited(). Only the
///              thread or fiber that carries out the operation may call the other functions.
class ShareTrace {
 public:
  ShareTrace(GroupTrace& group, std::uint64_t operation);

  /// Records the arrival of a member. `waits` is true if the member's thread immediately waits for
  /// the result.
  void came(std::size_t member, bool waits);
  /// Records that a member waited from `begin_nanos` until now. Used for members that did not begin
  /// to wait at their arrival (came()).
  void waited(std::size_t member, std::int64_t begin_nanos) const;
  /// Sets the schedule of the operation, with its predicted time and the reason for its choice.
  void set_schedule(ScheduleTrace schedule) { schedule_ = std::move(schedule); }
  /// Whether this host records the predicted time of the operation. Only one host of a group
  /// records it.
  bool records_prediction() const;
  /// Whether operations take only the times that the config states, as on the virtual clock.
  bool takes_stated_times() const;
  std::int64_t now() const;
  std::uint32_t host() const;  ///< number of the host in the deployment's plan
  std::uint32_t host(std::uint32_t participant) const;
  /// Records a step that ends now. The caller sets all fields of `step` except `share` and
  /// `end_nanos`.
  void add(eventspace::GroupStep step);
  /// Records the end of the operation. `calls` are the calls of the members.
  void end(const Calls& calls, bool has_failed);

 private:
  eventspace::EventRecord call_record(eventspace::EventKind kind, std::size_t member,
                                      std::int64_t begin_nanos) const;

  GroupTrace& group_;
  const std::uint64_t operation_;
  const std::uint32_t number_;      // number of this object among all ShareTraces of the host
  std::vector<std::int64_t> came_;  // arrival times, indexed by member
  ScheduleTrace schedule_;
};

/// Trace of the operations of one group on one host. The object exists only if the run is traced;
/// otherwise callers have a nullptr.
///
/// Owns:        nothing; borrows deployment, layout and numbers.
/// Thread-safe: yes.
class GroupTrace {
 public:
  static std::unique_ptr<GroupTrace> of(paths::Deployment& deployment, const Layout& layout,
                                        std::uint32_t participant, const std::string& name,
                                        TraceNumbers& numbers);
  GroupTrace(paths::Deployment& deployment, const Layout& layout, std::uint32_t participant,
             const std::string& name, TraceNumbers& numbers);
  std::unique_ptr<ShareTrace> share(std::uint64_t operation) {
    return std::make_unique<ShareTrace>(*this, operation);
  }

 private:
  friend class ShareTrace;
  std::uint32_t told(const eventspace::GroupOperation& operation);

  paths::Deployment& deployment_;
  const Layout& layout_;
  const std::uint32_t participant_;
  TraceNumbers& numbers_;
  std::string name_;
  runtime::Mutex mutex_;
  std::set<std::uint32_t> told_;  // numbers of the operation texts that were recorded already
};

}  // namespace groups
