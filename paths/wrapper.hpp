// SPDX-License-Identifier: Apache-2.0
// paths/wrapper.hpp — one stage of a path: code on the way down, code on the way up.
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

/// A wrapper's place on a way to an element. Ways that meet in a joining wrapper share the stages
/// from there on: that is how paths form trees. Immutable once its host is wired.
struct Stage {
  Wrapper* wrapper = nullptr;
  const Stage* below = nullptr;  ///< null at the end of the path, and where it leaves this host
  StageId id = no_stage;
  StageId below_id = no_stage;  ///< also when the stage below is on another host
  std::uint32_t slot = 0;       ///< this stage's (first) slot at the stage below
  std::uint32_t role = 0;       ///< index into WrapperKind::roles
  /// What never waits, here and below on this host.
  OperationSet nonblocking = OperationSet::none();
  /// Operations of other hosts and started ones need a context before the next join.
  bool needs_context = true;
};

/// One kind of thing that happens to operations as they pass (Bongo et al. 2004, §III-A).
///
/// It acts on the kinds of operation it names, and passes all others on. A wrapper that has to
/// block derives from BlockingWrapper.
///
/// Thread-safe: many contexts are inside handle() at once, of one round or of several.
class Wrapper {
 public:
  virtual ~Wrapper() = default;
  /// Handles one operation on its way down. Does one of three things: passes the operation on with
  /// next.handle(operation, std::move(responder)), replies, or keeps the responder and replies
  /// later. Before it passes the operation on, it may add a step of the way up with
  /// responder.on_reply(). On the virtual clock an operation that owns no context runs in a service
  /// context, behind all contexts that are ready then (runtime/continuation.hpp).
  ///
  /// Blocks: only if responder.owns_context(). Then it must not keep the responder.
  /// Throws: anything, while it has the responder. The stage turns that into a TravelError that
  ///         names host and wrapper; Stop passes unchanged. If the operation was not passed on, the
  ///         joins below get this contributor's failure (see begin_stage()).
  virtual void handle(Operation&& operation, Next next, Responder& responder) = 0;
  /// Returns whether operations need a context of their own here, for example because the wrapper
  /// runs code of the application. Called once, when the host is wired.
  virtual bool needs_context() const { return false; }
  /// What waits here without a context and whose deadline has come fails as it would in one;
  /// answers when the next one's comes. Called when Next::expect() said, or earlier.
  virtual base::Nanos end_late(base::Nanos /*now*/) { return base::Nanos::max(); }
  /// The host ends: what still waits here without a context is answered that it has ended.
  virtual void give_up() {}

  /// Joins, forwards and whatever keeps state per round see failed contributions (operation.failure
  /// set); all others are skipped by them.
  virtual bool sees_failed_operations() const { return false; }
  /// The element in which whatever is moved here ends as it is, where this process has it; null, or
  /// not known yet.
  virtual pastset::Element* element_here() { return nullptr; }
  /// A join turns several slots into one; everything else keeps contributors apart.
  virtual bool joins() const { return false; }
  /// What never waits in handle(), leaving aside what is below: where all stages of this host say
  /// so, an operation of another host runs where it arrives, in no context. Asked once, when the
  /// host is wired; what runs code of the application is not among it.
  virtual OperationSet nonblocking_operations() const { return OperationSet::none(); }
  /// A release may wait here for what was sent before.
  virtual bool holds_releases() const { return false; }
  /// When all hosts are wired, before the first operation; and after the last one.
  virtual void start() {}
  virtual void stop() {}
  /// When every path through its host was released: waits for what is still under way down there.
  virtual void drain() {}

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

 private:
  std::string name_;
};

/// A wrapper that may block, through runtime/ only. Each of its operations owns a context.
class BlockingWrapper : public Wrapper {
 public:
  /// Lines before next(operation) run on the way down, lines after it on the way up. A return
  /// without a call of next replies early. Throws like handle().
  virtual Result operate(Operation operation, Next next) = 0;
  void handle(Operation&& operation, Next next, Responder& responder) final;
  bool needs_context() const final { return true; }
};

/// The rest of the path as a wrapper sees it. Cheap to copy, valid as long as the deployment.
class Next {
 public:
  Next(Deployment& deployment, const Stage& stage, bool* called)
      : deployment_(&deployment), stage_(&stage), called_(called) {}
  /// Passes the operation on to the stage below. Must not be called at the end of a path.
  void handle(Operation&& operation, Responder responder) const;
  /// The same for an operation that owns the calling context. Blocks, and returns the reply.
  Result operator()(Operation operation) const;
  /// Something waits here without a context, until then: Wrapper::end_late() is to be called.
  void expect(base::Nanos until) const;
  /// What `error`, thrown by the wrapper, is to those above.
  Failure failure_of(const std::exception_ptr& error, std::uint32_t path) const;
  /// Runs `work` in a service context of the host.
  void in_context(std::function<void()> work) const;
  const Stage& stage() const { return *stage_; }  ///< the wrapper's own
  std::uint32_t role() const { return stage_->role; }
  bool at_end() const { return stage_->below_id == no_stage; }
  Deployment& deployment() const { return *deployment_; }
  /// For a wrapper that answers or sends the operation on itself (forward, a join): from here on
  /// a failure is its own business and not carried down for it.
  void taken() const {
    if (called_ != nullptr) *called_ = true;
  }
  /// Copy for work that outlives this call of handle().
  Next detached() const { return Next(*deployment_, *stage_, nullptr); }

 private:
  Deployment* deployment_;
  const Stage* stage_;
  bool* called_;
};

/// Runs `stage` and the stages below it. If the wrapper needs a context and the operation owns
/// none, a service context takes the operation over. If the wrapper throws before it has passed the
/// operation on, the joins below get a failed contribution, and then the operation fails.
void begin_stage(Deployment& deployment, const Stage& stage, Operation&& operation,
                 Responder responder);
/// The same for an operation that owns the calling context. Blocks until the reply.
/// Throws: TravelError, or the Stop that ended a wait.
Result run_stage(Deployment& deployment, const Stage& stage, Operation operation);

}  // namespace paths
