// SPDX-License-Identifier: Apache-2.0
// groups/host_group.hpp — members of a group on one host, and their joint operations.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "groups/call.hpp"
#include "groups/execution.hpp"
#include "groups/layout.hpp"
#include "groups/leaders.hpp"
#include "groups/machine_group.hpp"
#include "groups/prepared_call.hpp"
#include "groups/selection.hpp"
#include "groups/tracing.hpp"
#include "paths/host/ended_threads.hpp"
#include "paths/host/host.hpp"
#include "runtime/completion.hpp"

namespace groups {

class Local;

/// State of one operation on one host.
struct Running {
  OperationName name;
  std::shared_ptr<const PreparedCall> prepared;  ///< call of the first member to arrive
  Calls calls;  ///< calls of the members on this host; emptied before completion
  std::size_t come = 0;
  bool has_begun = false;  ///< set when the last member arrives
  /// Digest of the operation, for comparison between hosts, if it ran in shared memory; otherwise
  /// 0.
  std::uint64_t shared_digest = 0;
  /// Set if a member is stopped, as its arrays are then freed.
  std::atomic<bool> is_abandoned{false};
  std::uint64_t turn = 0;  ///< turn in the shared region (MachineGroup::new_turn); 0 = uses lanes
  runtime::Completion completion;
  paths::Failure failure;             ///< written before completion
  paths::Traffic wan;                 ///< traffic to other clusters; written before completion
  std::unique_ptr<ShareTrace> trace;  ///< null unless the run is traced
};

/// The parent of a group that was made by a split: its MessageGroup::id() (`group`), and the number
/// of the operation that split it. Both are 0 if there is no parent, or if the parent is on one
/// host.
struct Origin {
  std::uint64_t group = 0;
  std::uint64_t operation = 0;
};

/// Which other operations fail when one operation fails.
enum class Failing {
  all_behind,  ///< all operations with higher numbers fail, too
  alone,       ///< no other operation fails
};

/// One host's part of a group. The first member on the host creates it, and the last member
/// releases it. All hosts number the operations of the group alike. Hosts and members must agree on
/// kind, root, type, counts, reduction and algorithm of an operation, and on all earlier
/// operations. Calls of members on one host are compared when the members arrive. Hosts compare
/// their calls with each message and each grant.
///
/// Thread-safe: yes.
/// Failure:     An error in an operation fails it on every host of the group, with the reason.
///              Depending on Failing, all later operations fail, too. Earlier operations and other
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

  const std::string& name() const { return name_; }
  const paths::Deployment& deployment() const { return deployment_; }
  std::uint64_t id() const { return lanes_ == nullptr ? 0 : lanes_->id(); }
  const Layout& layout() const { return *shared_layout_; }
  /// Returns the deadline of a wait that begins now.
  runtime::Deadline deadline() const;
  const Selector& selector() const { return *selector_; }
  std::uint32_t participant() const { return me_; }
  runtime::Runtime& runtime() const { return deployment_.runtime(); }
  /// Returns the name of a member's thread for messages, such as "thread a-0/1".
  std::string thread_text(std::uint32_t place) const;

  /// Returns a selector that uses these measured links for the hosts of the group.
  /// Throws: ConfigError if the measurement is of other clusters.
  std::shared_ptr<Selector> selector_by(const tuning::MeasuredNetwork& measured) const;
  /// Validates a call and finds its schedule.
  /// Throws: UsageError for impossible counts, if no schedule supports the call, or if the schedule
  ///         needs a larger limit of unfinished steps or more ports (ports.hpp). A small limit is
  ///         accepted if messages can be sent by credit.
  std::shared_ptr<const PreparedCall> prepare(const Call& call);
  /// Adds a member to the operation with that number. The host uses the call and its arrays until
  /// the operation has completed. The last member to arrive starts the operation. It runs in that
  /// member's context if the member waits, otherwise in a new context.
  /// Throws: UsageError if the call differs from those of the other members.
  std::shared_ptr<Running> enter(std::uint32_t place, std::uint64_t number,
                                 const std::shared_ptr<const Call>& call,
                                 const std::shared_ptr<const PreparedCall>& prepared, bool waits);
  /// Blocks the member until the operation has ended. Fails the operation if it has not ended at
  /// the given deadline. Throws: TravelError if the operation failed.
  void wait(Running& running, std::uint32_t place,
            runtime::Deadline deadline = runtime::Deadline::never());
  /// Adds a member. Returns false if the member joined before and has left since.
  /// Throws: UsageError if the thread is a member now.
  bool come(std::uint32_t place);
  /// Fails all operations if the thread of a member on this host has ended without joining the
  /// group.
  void look_for_ended();
  /// Handles the end of a thread: fails all operations if the thread is a member that has not
  /// joined the group. `thread` is an index on this host.
  void see_ended(std::uint32_t thread);
  /// Blocks until all members have left and no operation is under way. The name is then free.
  /// Throws: TravelError at the deadline.
  void wait_until_over();
  /// Removes a member. The member takes part in no operation with the number `number` or higher.
  void leave(std::uint32_t place, std::uint64_t number, bool is_failing);
  /// Fails the operation with that number on all hosts. `failing` tells which other operations
  /// fail, too.
  void fail(std::uint64_t number, const paths::Failure& failure, Failing failing);
  /// Returns the schedule of the last operation; empty if there was none.
  std::string last_algorithm() const;

 private:
  struct Left {
    std::uint64_t from = 0;  ///< first operation in which the member takes no part
    std::string why;
    paths::FailureCause cause = paths::FailureCause::released;
  };
  std::shared_ptr<Running> open(std::uint64_t number);
  paths::Failure known_failure(std::uint64_t number) const;
  std::string overlap_text(const Running& running) const;
  void carry_out(const std::shared_ptr<Running>& running);
  void wait_for_end(Running& running, std::uint32_t place, runtime::Deadline given);
  void take_memory_back(Running& running, std::uint32_t place) const;
  void execute(Running& running);
  bool execute_on_machine(const RegionOperation& operation, Running& running, Local& local);
  void chose(Running& running, std::string algorithm, std::string_view reason);
  void ask_hosts(const OperationName& name) const;
  std::string threads_text(std::uint32_t host) const;
  void check_algorithm(const PreparedCall& prepared) const;
  void check_window(const Call& call, const PreparedCall& prepared) const;
  Selector& selector_for(const Call& call) const;
  std::shared_ptr<const Selection> selection_of(const PreparedCall& prepared) const;
  paths::Failure failure_of(const std::string& reason, paths::FailureCause cause) const;
  void fail(runtime::Lock& lock, std::uint64_t number, const paths::Failure& failure,
            Failing failing);
  [[noreturn]] void tell(std::uint32_t place, const paths::TravelError& failure) const;
  std::string call_text(const Running& running) const;
  paths::Failure told(const Running& running, const paths::TravelError& error) const;
  paths::Participation participation() const;
  void end_if_over(runtime::Lock& lock);
  paths::Traffic wan_traffic_of(const Execution& execution) const;

  paths::Deployment& deployment_;
  const std::string name_;
  const std::shared_ptr<const Layout> shared_layout_;
  const Layout& layout_;
  const std::uint32_t me_;
  const Failing failing_;
  const Origin origin_;
  const std::shared_ptr<Selector> selector_;
  const std::vector<std::uint32_t>& hosts_;     // host number in the run of each participant
  const std::unique_ptr<GroupTrace> trace_;     // null unless the run is traced
  std::unique_ptr<paths::MessageGroup> lanes_;  // null if the group is on one host
  std::optional<Machines> machines_;       // set if hosts of each cluster can share memory regions
  std::unique_ptr<MachineGroup> machine_;  // null if the group uses no shared memory
  std::unique_ptr<Leaders> leaders_;       // null unless there are several machines
  mutable runtime::Mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<Running>> running_;  // keyed by operation number
  std::set<std::uint32_t> come_;                               // members that have joined
  std::map<std::uint32_t, Left> left_;  // members that have left, or that never joined
  const std::uint64_t members_;         // digest of the members
  std::uint64_t signature_digest_;  // digest of the members and of all operations begun, in order
  std::uint64_t begun_ = 0;         // number of operations begun
  // Call of the last operation begun; null if there was none.
  std::shared_ptr<const PreparedCall> last_;
  // Keyed by the number of the first operation that fails.
  std::map<std::uint64_t, paths::Failure> failures_;
  std::string last_algorithm_;
  PreparedCallCache prepared_;
  Executions executions_;
  bool is_over_ = false;      // all members have left, and nothing is under way
  runtime::Completion over_;  // completes when is_over_ is set and the name is free
};

/// The groups that have members on one host, by name.
///
/// Thread-safe: yes.
class HostGroups final : public paths::ThreadWatcher {
 public:
  /// The last failure that a thread received.
  struct Noted {
    std::string reason;
    paths::FailureCause cause = paths::FailureCause::other;
  };
  /// Returns the groups of a host. Creates the object at the first call; the host owns it.
  static HostGroups& of(paths::Host& host);
  TraceNumbers& trace_numbers() { return trace_numbers_; }
  /// Adds the thread of that rank to a group. `threads` is nullptr for all threads.
  /// Blocks: if the thread was a member of an earlier group of this name, until all members of that
  ///         group have left.
  std::shared_ptr<HostGroup> join(paths::Deployment& deployment, const std::string& name,
                                  const std::vector<std::uint32_t>* threads, std::uint32_t rank,
                                  const Origin& origin);
  /// Removes a group from this list after all its members have left.
  void forget(const HostGroup& group);
  /// Returns a token that expires with the host. Objects that can outlive the host check it before
  /// they use the host.
  std::weak_ptr<const void> is_there() const { return is_there_; }
  /// Returns an unused number for a split: higher than those of all splits in which this thread
  /// took part, and at least `least`.
  std::int64_t next_split(std::uint32_t thread, std::int64_t least = 0);
  /// Records the latest failure that a thread received. If the thread then fails itself, this
  /// failure is reported as the cause.
  void note(std::uint32_t thread, const paths::TravelError& failure);
  /// Returns the failure recorded by note(); an empty reason if there is none.
  Noted noted(std::uint32_t thread) const;
  /// Fails the operations of all groups that contain the ended thread, unless the thread has joined
  /// them.
  void thread_ended(paths::Deployment& deployment, std::uint32_t thread) override;

 private:
  std::shared_ptr<HostGroup> find(paths::Deployment& deployment, const std::string& name,
                                  const std::vector<std::uint32_t>* threads, const Origin& origin);
  const std::shared_ptr<const void> is_there_ = std::make_shared<bool>(true);
  mutable runtime::Mutex mutex_;
  TraceNumbers trace_numbers_;  // outlives the groups, whose traces refer to it
  std::map<std::string, std::shared_ptr<HostGroup>> groups_;
  std::map<std::uint32_t, std::int64_t> next_splits_;  // keyed by thread
  std::map<std::uint32_t, Noted> noted_;               // keyed by thread
};

}  // namespace groups
