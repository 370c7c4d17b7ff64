// SPDX-License-Identifier: Apache-2.0
// groups/host_group.hpp — the members of a group on one host, and what they do together.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "groups/call.hpp"
#include "groups/execution.hpp"
#include "groups/layout.hpp"
#include "groups/prepared_call.hpp"
#include "groups/selection.hpp"
#include "groups/tracing.hpp"
#include "paths/host/ended_threads.hpp"
#include "paths/host/host.hpp"
#include "runtime/completion.hpp"

namespace groups {

/// What comes of an operation on one host.
struct Running {
  OperationName name;
  std::shared_ptr<const PreparedCall> prepared;  ///< of who came first
  std::vector<const Call*> calls;                ///< by member; null: it has not come
  std::size_t come = 0;
  bool has_begun = false;  ///< all have come
  runtime::Completion completion;
  paths::Failure failure;             ///< written before it completes
  paths::Traffic wan;                 ///< what it sent to other clusters, likewise
  std::unique_ptr<ShareTrace> trace;  ///< null where nothing is recorded
  std::unique_ptr<const Call> kept;   ///< of one whose handle could not wait, as the run is stopped
};

/// The operation of a group that split it, and which group that is; by MessageGroup::id(), 0: none,
/// or one on one host.
struct Origin {
  std::uint64_t group = 0;
  std::uint64_t operation = 0;
};

/// What else fails when an operation does.
enum class Failing {
  all_behind,  ///< those with higher numbers
  alone,       ///< nothing
};

/// One host's share of a group: made by the first of its members, gone with the last. Operations
/// are numbered alike everywhere, and what each is (kind, root, type, counts, operation, algorithm,
/// and all before it) is compared by members of a host when they come, and by hosts with each
/// message and each grant.
///
/// Failure: whatever goes wrong in an operation fails it and, where that is so, all behind it; here
///          and, with the reason, on every other host of the group. Those before it go on, and so
///          do other groups.
/// Sharing: any context.
class HostGroup : public std::enable_shared_from_this<HostGroup> {
 public:
  /// `threads`: of the deployment's plan, which outlives it, by rank; null: all of them. Members
  /// are told apart by their places in the layout.
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
  /// Of what begins to wait now.
  runtime::Deadline deadline() const;
  const Selector& selector() const { return *selector_; }
  std::uint32_t participant() const { return me_; }
  runtime::Runtime& runtime() const { return deployment_.runtime(); }
  /// By message, "thread a-0/1".
  std::string thread_text(std::uint32_t place) const;

  /// For operations to come, whose calls have it. Throws ConfigError where that is of other
  /// clusters.
  std::shared_ptr<Selector> selector_by(const tuning::MeasuredNetwork& measured) const;
  /// Throws UsageError if its counts cannot be, there is no schedule for it, or its schedule needs
  /// a larger window or more ports where no credit may help out.
  std::shared_ptr<const PreparedCall> prepare(const Call& call);
  /// A member comes to its operation of that number; the call is lent until it has completed. With
  /// the last of them it is carried out: in the caller's context where that waits for it, else in
  /// one of its own. Throws UsageError when the call is not the others'.
  std::shared_ptr<Running> enter(std::uint32_t place, std::uint64_t number, const Call& call,
                                 const std::shared_ptr<const PreparedCall>& prepared, bool waits);
  /// Blocks the member until it has ended. Throws TravelError.
  void wait(Running& running, std::uint32_t place);
  /// Makes it a member; false when it was one, and has left. Throws UsageError when it is one.
  bool come(std::uint32_t place);
  /// Those of its members on this host that have ended and never joined: all its operations fail.
  void look_for_ended();
  void see_ended(std::uint32_t thread);  ///< one of this host, by its index there
  /// Blocks until all members have left and nothing is under way: then the name is free. Throws
  /// TravelError at the deadline.
  void wait_until_over();
  /// A member comes to no operation from that number on.
  void leave(std::uint32_t place, std::uint64_t number, bool is_failing);
  /// The operation of that number fails here, and everywhere, with what `failing` says.
  void fail(std::uint64_t number, const paths::Failure& failure, Failing failing);
  /// What it did last took that schedule; empty before.
  std::string last_algorithm() const;

 private:
  std::shared_ptr<Running> open(std::uint64_t number);
  paths::Failure known_failure(std::uint64_t number) const;
  std::string overlap_text(const Running& running) const;
  void carry_out(const std::shared_ptr<Running>& running);
  void wait_for_end(Running& running);
  void take_memory_back(const Running& running, std::uint32_t place) const;
  void execute(Running& running);
  void ask_hosts(const OperationName& name) const;
  std::string threads_text(std::uint32_t host) const;
  void check_algorithm(const PreparedCall& prepared) const;
  void check_window(const Call& call, const PreparedCall& prepared) const;
  Selector& selector_for(const Call& call) const;
  std::shared_ptr<const Selection> selection_of(const PreparedCall& prepared) const;
  std::unique_ptr<Execution> take_execution();
  void give_back(std::unique_ptr<Execution> execution);
  paths::Failure failure_of(const std::string& reason,
                            paths::FailureCause cause = paths::FailureCause::other) const;
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
  const std::vector<std::uint32_t>& hosts_;     // of the run, by participant
  const std::unique_ptr<GroupTrace> trace_;     // null where nothing is recorded
  std::unique_ptr<paths::MessageGroup> lanes_;  // null where the group is on one host
  mutable runtime::Mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<Running>> running_;            // by number
  std::set<std::uint32_t> come_;                                         // members
  std::map<std::uint32_t, std::pair<std::uint64_t, std::string>> left_;  // members, from when, why
  const std::uint64_t members_;                                          // digest of who they are
  std::uint64_t signature_digest_;                    // of all that began, in their order
  std::uint64_t begun_ = 0;                           // how many those are
  std::shared_ptr<const PreparedCall> last_;          // of them; null: there is none
  std::map<std::uint64_t, paths::Failure> failures_;  // of all behind, by the first that failed
  std::shared_ptr<const Selection> last_choice_;
  PreparedCallCache prepared_;
  std::unique_ptr<Execution> idle_;  // of the last operation
  bool is_over_ = false;             // all members have left, and nothing is under way
  runtime::Completion over_;         // likewise, and the name is free
};

/// The groups that members of one host are in, by name.
class HostGroups final : public paths::ThreadWatcher {
 public:
  /// Makes them when somebody first asks. The host owns them.
  static HostGroups& of(paths::Host& host);
  TraceNumbers& trace_numbers() { return trace_numbers_; }
  /// Makes the one of that rank a member. `threads`: null for all.
  /// Blocks: where that was a member before, until the group of then is over.
  std::shared_ptr<HostGroup> join(paths::Deployment& deployment, const std::string& name,
                                  const std::vector<std::uint32_t>* threads, std::uint32_t rank,
                                  const Origin& origin);
  /// That one is over.
  void forget(const HostGroup& group);
  /// For who may outlive the host.
  std::weak_ptr<const void> is_there() const { return is_there_; }
  /// Above the numbers of all splits that this thread was in, and at least that one from now on.
  std::int64_t next_split(std::uint32_t thread, std::int64_t least = 0);
  /// What a thread was told last by an operation that failed: why, if it then fails itself.
  void note(std::uint32_t thread, std::string_view reason);
  std::string noted(std::uint32_t thread) const;
  /// Operations of groups that it is in and never joined fail.
  void thread_ended(paths::Deployment& deployment, std::uint32_t thread) override;

 private:
  std::shared_ptr<HostGroup> find(paths::Deployment& deployment, const std::string& name,
                                  const std::vector<std::uint32_t>* threads, const Origin& origin);
  const std::shared_ptr<const void> is_there_ = std::make_shared<bool>(true);
  mutable runtime::Mutex mutex_;
  std::map<std::string, std::shared_ptr<HostGroup>> groups_;
  std::map<std::uint32_t, std::int64_t> next_splits_;  // by thread
  std::map<std::uint32_t, std::string> noted_;         // likewise
  TraceNumbers trace_numbers_;
};

}  // namespace groups
