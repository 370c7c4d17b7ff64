// SPDX-License-Identifier: Apache-2.0
// paths/wrapper.hpp — interface of wrappers, which act on operations on their way down and up.
#pragma once
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "base/units.hpp"
#include "paths/operation.hpp"
#include "paths/responder.hpp"

namespace pastset {
class Element;
}

namespace paths {

class Deployment;
class Next;
class Wrapper;

/// Place of a wrapper on a path. Paths that meet in a join share the stage of the join and all
/// stages below it. Paths therefore form trees. A stage is immutable after deployment.
struct Stage {
  Wrapper* wrapper = nullptr;
  const Stage* below = nullptr;  ///< next stage on this host; nullptr if there is none
  StageId id = no_stage;
  StageId below_id = no_stage;  ///< id of the next stage, even if it is on another host
  std::uint32_t slot = 0;       ///< first slot of this stage's contributors at the stage below
  std::uint32_t role = 0;       ///< index into WrapperKind::roles of the wrapper's kind
  /// Number of hosts that may delay the reply of the stage below. After the deadline of an
  /// operation, this host still waits HostView::time_per_host() for each of these hosts. Set only
  /// if the stage below is on another host.
  std::uint32_t hosts_to_reply = 0;
  /// Kinds of operation that wait neither in this stage nor in stages below on the same host.
  OperationSet nonblocking = OperationSet::none();
  /// Whether an operation that owns no context (OS thread or fiber) gets a service context at this
  /// stage. True if the wrapper of this stage, or of a stage below up to and including the next
  /// join, needs a context.
  bool needs_context = true;
};

/// Action on operations as they pass a stage of a path (Bongo et al. 2004, §III-A). A wrapper acts
/// on operations of some kinds and passes operations of all other kinds on. A wrapper that must
/// block derives from BlockingWrapper.
///
/// Thread-safe: handle() must be. Many contexts call it at the same time, for the same round or for
///              different rounds.
class Wrapper {
 public:
  virtual ~Wrapper() = default;
  /// Handles one operation on its way down. The wrapper has three choices:
  /// - It passes the operation on with next.handle(operation, std::move(responder)). It may first
  ///   add a step of the way up with responder.on_reply().
  /// - It replies.
  /// - It keeps the responder and replies later.
  ///
  /// On the virtual clock an operation that owns no context runs in a service context, after all
  /// contexts that are ready (runtime/continuation.hpp).
  ///
  /// Blocks: only if responder.owns_context(). In that case the wrapper must not keep the responder
  ///         after it has returned.
  /// Throws: any exception, as long as the wrapper still has the responder. The stage converts the
  ///         exception to a TravelError that names host and wrapper. The exception Stop passes
  ///         unchanged. If the operation was not passed on, the joins below get this contributor's
  ///         failure (see begin_stage()).
  virtual void handle(Operation&& operation, Next next, Responder& responder) = 0;
  /// Returns whether operations need a context of their own here, for example because the wrapper
  /// runs application code. Called once, during deployment.
  virtual bool needs_context() const { return false; }
  /// Fails the waiting operations of this wrapper that own no context and whose deadline is before
  /// `now`. Returns the next deadline of a waiting operation; Nanos::max() if no such operation
  /// waits. The host calls this function at the time that was passed to Next::expect(), or earlier.
  virtual base::Nanos end_late(base::Nanos /*now*/) { return base::Nanos::max(); }
  /// Fails all operations that wait in this wrapper and own no context. Called when the host ends.
  virtual void give_up() {}

  /// Returns whether handle() receives failed contributions (operation.failure set). Joins,
  /// forwards and wrappers with state per round must see them. Failed contributions skip all other
  /// wrappers.
  virtual bool sees_failed_operations() const { return false; }
  /// If this wrapper stores moved tuples unchanged in an element that this process maps, returns
  /// the element. Otherwise, or if the element is not known yet, returns nullptr.
  virtual pastset::Element* element_here() { return nullptr; }
  /// Returns whether this wrapper is a join. A join has one slot at the stage below for all its
  /// contributors together. Any other wrapper has one slot at the stage below for each contributor.
  virtual bool joins() const { return false; }
  /// Returns the kinds of operation that never wait in handle() of this wrapper. Waits in stages
  /// below do not count. An operation needs no context if its kind is in the set of each stage of
  /// its path on this host. The thread that receives such an operation from another host then runs
  /// it. Kinds that run application code must not be in the set. Called once, during deployment.
  virtual OperationSet nonblocking_operations() const { return OperationSet::none(); }
  /// Returns whether this wrapper may delay a release until earlier operations have returned.
  virtual bool holds_releases() const { return false; }
  /// Called after all hosts are deployed, before the first operation.
  virtual void start() {}
  /// Called after the last operation.
  virtual void stop() {}
  /// Blocks until all operations that this wrapper has started have returned from the stages below.
  /// Called after the release of every path through the host.
  virtual void drain() {}

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

 private:
  std::string name_;
};

/// Wrapper that may block, but only in functions of runtime/. Each of its operations owns a
/// context.
class BlockingWrapper : public Wrapper {
 public:
  /// Handles one operation. Code before the call next(operation) runs on the way down, code after
  /// this call on the way up. If the function returns without a call of `next`, the operation does
  /// not reach the stages below.
  /// Throws: any exception, which is converted as for handle().
  virtual Result operate(Operation operation, Next next) = 0;
  void handle(Operation&& operation, Next next, Responder& responder) final;
  bool needs_context() const final { return true; }
};

/// The stages below a wrapper on its path. Cheap to copy. Valid until the deployment ends.
class Next {
 public:
  Next(Deployment& deployment, const Stage& stage, bool* called)
      : deployment_(&deployment), stage_(&stage), called_(called) {}
  /// Passes the operation on to the stage below. Must not be called at the end of a path.
  void handle(Operation&& operation, Responder responder) const;
  /// Passes on an operation that owns the calling context. Blocks until the reply, and returns it.
  Result operator()(Operation operation) const;
  /// Requests a call of Wrapper::end_late() at `until`. The wrapper calls this function for each
  /// waiting operation that owns no context.
  void expect(base::Nanos until) const;
  /// Converts `error`, an exception that the wrapper threw, to the failure that the stages above
  /// receive.
  Failure failure_of(const std::exception_ptr& error, std::uint32_t path) const;
  /// Runs `work` in a service context of the host.
  void in_context(std::function<void()> work) const;
  const Stage& stage() const { return *stage_; }
  std::uint32_t role() const { return stage_->role; }
  bool at_end() const { return stage_->below_id == no_stage; }
  Deployment& deployment() const { return *deployment_; }
  /// Marks the operation as handled. A wrapper calls this function if it replies, or if it sends
  /// the operation on without Next::handle(), as a forward or a join does. If the wrapper throws
  /// after this call, the stage passes no failed contribution down.
  void taken() const {
    if (called_ != nullptr) *called_ = true;
  }
  /// Returns a copy that may be used after the wrapper's handle() has returned.
  Next detached() const { return Next(*deployment_, *stage_, nullptr); }

 private:
  Deployment* deployment_;
  const Stage* stage_;
  bool* called_;
};

/// Runs `stage` and the stages below it. If the wrapper needs a context and the operation owns
/// none, the operation continues in a service context. If the wrapper throws before it passes the
/// operation on, the joins below get a failed contribution, and then the operation fails.
void begin_stage(Deployment& deployment, const Stage& stage, Operation&& operation,
                 Responder responder);
/// Runs `stage` and the stages below it for an operation that owns the calling context. Blocks
/// until the reply, and returns it.
/// Throws: TravelError, or the Stop that ended a wait.
Result run_stage(Deployment& deployment, const Stage& stage, Operation operation);

}  // namespace paths
