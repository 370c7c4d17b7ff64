// SPDX-License-Identifier: Apache-2.0
// paths/host/requests/path_operations.cpp — start, run and end of the operations of a path
#include "paths/host/requests/path_operations.hpp"

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <utility>

#include "base/errors.hpp"
#include "base/usage_error.hpp"
#include "eventspace/record.hpp"
#include "paths/host/deployment.hpp"
#include "paths/host/requests/dispatcher.hpp"
#include "runtime/continuation.hpp"

namespace paths {

void describe(Result& result, const PathValues& values) {
  result.path_values = &values;
  const bool is_partial = !result.is_complete();
  result.payload.set_type(values.moved_type, is_partial);
}

/// Counts the started operations of a path that have not ended. The object may outlive the Path.
struct PathOperations::UnderWay {
  runtime::Mutex mutex;
  runtime::WaitList waiting;
  std::uint64_t count = 0;
  void come() {
    runtime::Lock lock(mutex);
    ++count;
  }
  void go() {
    runtime::DeferredWakes wakes;
    runtime::Lock lock(mutex);
    --count;
    waiting.wake_all(wakes);
  }
};

namespace {

/// Stores a copy of `error` in `last_failure`. Not inlined, because many threads wait in the
/// calling function, and the copy would enlarge its stack frame.
[[gnu::noinline]] void note(Failure& last_failure, const TravelError& error) {
  last_failure = std::make_shared<TravelError>(error);
}

/// Calls `operate` and returns its result. Stores the failure of the call of `operate` in
/// `last_failure`; nullptr if the call succeeded.
template <class Operate>
Result noting_failure(Failure& last_failure, Operate operate) {
  try {
    if (!last_failure) return operate();
    Result result = operate();
    last_failure = nullptr;
    return result;
  } catch (const TravelError& error) {
    note(last_failure, error);
    throw;
  }
}

/// Returns the trace record of a call that starts an operation now.
eventspace::EventRecord record_of_start(const Deployment& deployment, const Operation& operation) {
  eventspace::EventRecord record;
  record.kind = static_cast<std::uint8_t>(eventspace::EventKind::start);
  record.place = deployment.plan().hosts[deployment.index()].first_thread +
                 deployment.plan().paths[operation.path].first_thread + operation.thread;
  record.slot = operation.path;
  record.sequence = operation.sequence;
  record.down_nanos = deployment.runtime().now().count();
  return record;
}

}  // namespace

/// Operation that a path has started. If it has no context (thread or fiber) of its own, the object
/// keeps itself alive until the operation ends.
struct PathOperations::StartedOperation final : runtime::Pending<Result>,
                                                runtime::Completion,
                                                runtime::Continuation,
                                                ServiceRoom,
                                                OperationState {
  StartedOperation(const PathOperations& path, Operation&& started)
      : OperationState(room),
        deployment(path.deployment_),
        stage(path.first_stage_),
        operation(std::move(started)),
        values(path.values_),
        sequence(operation.sequence),
        last_failure(path.last_failure_),
        under_way(path.under_way_) {}

  Deployment* const deployment;
  const Stage* const stage;
  Operation operation;
  Result result;
  std::exception_ptr error;
  const PathValues* const values;
  const std::uint64_t sequence;
  // Trace record of the wait for the operation; nullopt if the run is not traced.
  std::optional<eventspace::EventRecord> wait_record;
  const void* const starter = runtime::calling_context();
  // Last failure of the thread. Only the thread may access it.
  const std::shared_ptr<Failure> last_failure;
  const std::shared_ptr<UnderWay> under_way;
  // Reference to this object, which keeps the object alive. Set while an operation without a
  // context is under way; otherwise nullptr.
  std::shared_ptr<StartedOperation> self;

  void end() {
    const std::shared_ptr<StartedOperation> mine = std::move(self);
    under_way->go();
    complete();
  }
  void resume() noexcept override {
    deployment->dispatcher().begin(*stage, std::move(operation), *this);
  }
  void arrived(Outcome&& outcome) noexcept override {
    result = std::move(outcome.result);
    if (outcome.failure) error = std::make_exception_ptr(TravelError(*outcome.failure));
    end();
  }
  runtime::Completion& completion() override { return *this; }
  std::string text() const override {
    return fmt::format("path {}: wait for started move {}", values->path, sequence);
  }
  Result take(runtime::Deadline deadline) override {
    if (runtime::calling_context() != starter)
      throw base::UsageError(text() + ", which another thread started");
    if (wait_record) wait_record->down_nanos = deployment->runtime().now().count();
    const bool has_ended = wait(deadline, {"the started operation", values->path, sequence});
    if (wait_record) {
      wait_record->up_nanos = deployment->runtime().now().count();
      deployment->recorder().add(*wait_record);
    }
    return noting_failure(*last_failure, [&] {
      if (!has_ended)
        throw TravelError(
            deployment->name(), values->path, "",
            fmt::format("started move {} did not end before the deadline of its wait", sequence),
            FailureCause::deadline);
      if (error) std::rethrow_exception(error);
      describe(result, *values);
      return std::move(result);
    });
  }
};

PathOperations::PathOperations(Deployment& deployment, std::uint32_t path, std::uint32_t thread,
                               Owner& owner, std::shared_ptr<Failure> last_failure)
    : deployment_(&deployment),
      first_stage_(deployment.instance().stage(deployment.plan().paths[path].stage)),
      values_(&deployment.instance().values_of(path)),
      path_(path),
      thread_(thread),
      owner_(&owner),
      last_failure_(std::move(last_failure)) {
  ENSURE(first_stage_ != nullptr);
}

/// Begins a use of the path by the calling thread.
/// Throws: UsageError if the thread may not use the path now.
Owner::Use PathOperations::use(std::string_view what) const {
  if (owner_->is_caller() && released_)  // only the owner may read released_
    throw base::UsageError(fmt::format("path {}: {} after its release", graph(), what));
  return {*owner_, what, "path", graph()};
}

/// Calls `check`, which checks the arguments of a move. If `check` throws, fails the round for the
/// other threads with the text of the exception, and then rethrows the exception.
template <class Check>
void PathOperations::check_move(const Check& check) {
  std::exception_ptr mistake;
  std::string text;
  try {
    check();
  } catch (const base::UsageError& error) {
    mistake = std::current_exception();
    text = error.mistake();
  }
  if (!mistake) return;
  fail_round(text);
  std::rethrow_exception(mistake);
}

void PathOperations::check_moved(std::string_view what, const base::Payload& payload) {
  check_move([&] { values_->check_moved(what, payload); });
}

void PathOperations::refuse_memory(base::ValueType wanted) {
  const Owner::Use used = use("move");
  check_move([&] { values_->refuse_result("move", wanted); });
  base::report_bug(__FILE__, __LINE__, "memory of another type was not refused");
}

/// Contributes a failure with the text `mistake` to the round, in place of a tuple that was
/// refused. Does not wait for the result.
void PathOperations::fail_round(std::string_view mistake) {
  if (!values_->has_rounds) return;
  Operation operation = next(OperationKind::move, 0, {});
  operation.failure = std::make_shared<TravelError>(
      deployment_->name(), "", "",
      fmt::format("{}: {}", deployment_->plan().beginner(path_, thread_), mistake),
      FailureCause::refused_value);
  begin(std::move(operation));
}

Operation PathOperations::next(OperationKind kind, std::uint64_t number, base::Payload payload) {
  Operation operation;
  operation.kind = kind;
  operation.path = path_;
  operation.thread = thread_;
  operation.slot = deployment_->plan().paths[path_].slot + thread_;
  operation.sequence = sequence_;
  // Only moves are counted, because joins combine the moves with equal numbers into one round. The
  // threads may therefore differ in their operations of other kinds.
  if (kind == OperationKind::move) ++sequence_;
  operation.number = number;
  operation.payload = std::move(payload);
  return operation;
}

Result PathOperations::operate(OperationKind kind, std::uint64_t number, base::Payload payload) {
  const Owner::Use used = use(operation_name(kind));
  return run(next(kind, number, std::move(payload)));
}

/// Runs an operation and waits for its result. The operation enters the first stage after all
/// operations that the path has started before.
Result PathOperations::run(Operation&& operation) {
  if (has_started()) return begin(std::move(operation)).wait();
  return noting_failure(
      *last_failure_, [&] { return run_stage(*deployment_, *first_stage_, std::move(operation)); });
}

Started PathOperations::begin(Operation operation, bool is_recorded) {
  if (!under_way_) under_way_ = std::make_shared<UnderWay>();
  eventspace::EventRecord start;
  if (is_recorded) start = record_of_start(*deployment_, operation);
  wait_while_started(started_max);
  const auto started = std::make_shared<StartedOperation>(*this, std::move(operation));
  if (is_recorded) {
    start.up_nanos = deployment_->runtime().now().count();
    deployment_->recorder().add(start);
    started->wait_record = start;
    started->wait_record->kind = static_cast<std::uint8_t>(eventspace::EventKind::wait);
  }
  under_way_->come();
  if (!first_stage_->needs_context) {
    started->self = started;
    runtime::schedule(deployment_->runtime(), *started);
    return Started(started);
  }
  // Each operation gets a service context. Service contexts begin in the order in which they are
  // spawned, so operations enter the first stage in the order in which they were started.
  deployment_->services()
      .spawn("operation",
             [started] {
               try {
                 started->result = run_stage(*started->deployment, *started->stage,
                                             std::move(started->operation));
               } catch (...) {
                 started->error = std::current_exception();
               }
               started->end();
             })
      .detach();
  return Started(started);
}

const std::string& PathOperations::graph() const { return deployment_->plan().paths[path_].graph; }

bool PathOperations::has_started() const {
  if (!under_way_) return false;
  runtime::Lock lock(under_way_->mutex);
  return under_way_->count > 0;
}

bool PathOperations::holds_release() const {
  if (released_) return false;
  for (const Stage* stage = first_stage_; stage != nullptr; stage = stage->below)
    if (stage->wrapper->holds_releases()) return true;
  return has_started();
}

Operation PathOperations::farewell(OperationKind kind, Failure failure) {
  Operation operation = next(kind, 0, {});
  operation.one_way = true;
  operation.failure = std::move(failure);
  return operation;
}

void PathOperations::withdraw(Failure failure) {
  owner_->check("withdraw", "path", graph());
  if (released_) return;
  const Owner::Use used = use("withdraw");
  try {
    run_stage(*deployment_, *first_stage_, farewell(OperationKind::withdraw, std::move(failure)));
  } catch (const TravelError&) {    // no action: `failure` or a lost peer is the cause
  } catch (const runtime::Stop&) {  // no action: the run cancels all of its threads
  }
}

void PathOperations::release(Failure failure) {
  owner_->check("release", "path", graph());
  if (released_) return;
  const Owner::Use used = use("release");
  Operation operation = farewell(OperationKind::release, std::move(failure));
  released_ = true;
  try {
    wait_while_started(1);
    run_stage(*deployment_, *first_stage_, std::move(operation));
  } catch (const TravelError&) {    // no action: a lost peer needs no release
  } catch (const runtime::Stop&) {  // no action: the run cancels all of its threads
  }
  deployment_->releases().count(path_);
}

/// Blocks while at least `at_least` started operations are under way.
void PathOperations::wait_while_started(std::uint64_t at_least) {
  if (!under_way_) return;
  runtime::Lock lock(under_way_->mutex);
  while (under_way_->count >= at_least)
    under_way_->waiting.wait(lock, runtime::Deadline::never(),
                             {"the end of what was started on", graph(), sequence_});
}

}  // namespace paths
