// SPDX-License-Identifier: Apache-2.0
// groups/host_group.hpp — members of a group on one host, and their joint operations.
#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groups/call_preparer.hpp"
#include "groups/calls/call.hpp"
#include "groups/execution/execution.hpp"
#include "groups/execution/leaders.hpp"
#include "groups/execution/machine_group.hpp"
#include "groups/execution/repeated_calls.hpp"
#include "groups/execution/tracing.hpp"
#include "groups/group_view.hpp"
#include "groups/host_groups.hpp"
#include "groups/operation_table.hpp"
#include "groups/running.hpp"
#include "paths/messages/group.hpp"
#include "runtime/completion.hpp"

namespace groups {

class Local;

/// One host's part of a group. The first member on the host creates it, and the last member
/// releases it. All hosts number the operations of the group alike. Hosts and members must agree on
/// kind, root, type, counts, reduction and algorithm of an operation, and on all earlier
/// operations. Calls of members on one host are compared when the members arrive. Calls of
/// different hosts are compared with each message and each grant.
///
/// Thread-safe: yes.
/// Failure:     An error in an operation fails it on every host of the group, with the reason. With
///              Failing::all_behind, all later operations fail, too. Earlier operations and other
///              groups continue.
class HostGroup : public std::enable_shared_from_this<HostGroup> {
 public:
  /// `threads` lists threads of the deployment's plan, ordered by rank; nullptr = all of them. The
  /// deployment must outlive this object. Functions identify a member by its place in the layout.
  HostGroup(paths::Deployment& deployment, std::string name,
            const std::vector<std::uint32_t>* threads, Failing failing = Failing::all_behind,
            const Origin& origin = {});
  ~HostGroup();
  HostGroup(const HostGroup&) = delete;
  HostGroup& operator=(const HostGroup&) = delete;

  const GroupView& view() const { return view_; }
  /// Returns the operations that are under way, and the members that have joined.
  OperationTable& operations() { return operations_; }
  std::uint64_t id() const { return lanes_ == nullptr ? 0 : lanes_->id(); }
  /// See CallPreparer::prepare().
  std::shared_ptr<const PreparedCall> prepare(const Call& call) { return preparer_.prepare(call); }
  /// Adds a member to the operation with that number. The host uses the call and its arrays until
  /// the operation has completed. The last member to arrive starts the operation. The operation
  /// runs in the thread of that member if the member waits, otherwise in a new fiber.
  /// Throws: UsageError if the call differs from the calls of the other members.
  std::shared_ptr<Running> enter(std::uint32_t place, std::uint64_t number,
                                 const std::shared_ptr<const Call>& call,
                                 const std::shared_ptr<const PreparedCall>& prepared, bool waits);
  /// Carries out a repeated call of the host's only member in shared memory, without adding the
  /// operation to operations(). `call` is the member's call with the arrays that the operation
  /// reads and writes. Returns false, and does nothing, if the caller must use enter() instead.
  /// Otherwise increments `number`, the number of the operation.
  /// Blocks: until the operation has ended.
  /// Throws: TravelError if the operation failed.
  bool run_at_once(std::uint32_t place, std::uint64_t& number, const Call& call,
                   RepeatedCall& known);
  /// Returns whether run_at_once() can ever carry out a call.
  bool can_run_at_once() const {
    return machine_ != nullptr && machines_->is_one() && trace_ == nullptr &&
           view_.layout().has_one_each() && view_.layout().is_in_order();
  }
  /// Blocks the member until the operation has ended. Fails the operation if it has not ended at
  /// the given deadline. Throws: TravelError if the operation failed.
  void wait(Running& running, std::uint32_t place,
            runtime::Deadline deadline = runtime::Deadline::never());
  /// Returns the index of this host among the hosts that can map arrays of all members; nullopt if
  /// the hosts of the group cannot. All hosts then get nullopt.
  std::optional<std::uint32_t> index_for_mapping() const;
  /// Returns the schedule of the last operation; empty if there was none.
  std::string last_algorithm() const;

 private:
  void share_memory();
  template <class Work>
  void carry_out(const std::shared_ptr<Running>& running, const Work& work);
  template <class Work>
  paths::Failure failure_of(const Running& running, std::exception_ptr& stop, const Work& work);
  Patience patience_of(const OperationName& name) const;
  void note_algorithm(std::string_view name);
  void wait_for_end(Running& running, std::uint32_t place, runtime::Deadline given);
  void abandon(Running& running, std::uint32_t place) const;
  void execute(Running& running);
  bool execute_on_machine(const RegionOperation& operation, Running& running, Local& local);
  void execute_schedule(const OperationName& name, const std::shared_ptr<const Selection>& chosen,
                        const Patience& patience, Running& running, Local& local, Fold& fold);
  ScheduleTrace schedule_trace_of(const Running& running,
                                  const std::shared_ptr<const Selection>& choice) const;

  const GroupView view_;
  const Failing failing_;
  const Origin origin_;
  const std::unique_ptr<GroupTrace> trace_;  // null unless the run is traced
  OperationTable operations_;
  CallPreparer preparer_;
  std::unique_ptr<paths::MessageGroup> lanes_;  // null if the group is on one host
  std::optional<Machines> machines_;       // set if hosts of each cluster can share memory regions
  std::unique_ptr<MachineGroup> machine_;  // null if the group uses no shared memory
  std::unique_ptr<Leaders> leaders_;       // null unless there are several machines
  Executions executions_;
  mutable runtime::Mutex mutex_;
  std::string last_algorithm_;  // guarded by mutex_
};

}  // namespace groups
