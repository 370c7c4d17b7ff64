// SPDX-License-Identifier: Apache-2.0
// paths/host/path.cpp — functions by which a thread uses its path.
#include "paths/host/path.hpp"

#include <fmt/format.h>

#include <cstring>
#include <exception>
#include <optional>
#include <utility>

#include "base/errors.hpp"
#include "base/near_match.hpp"
#include "base/usage_error.hpp"
#include "eventspace/record.hpp"
#include "paths/host/deployment.hpp"
#include "paths/host/requests/dispatcher.hpp"
#include "paths/plan/names.hpp"
#include "runtime/continuation.hpp"

namespace paths {

/// Counts the started operations of a path that have not ended. The object may outlive the Path.
struct Path::UnderWay {
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

/// Sets the type of a result's value, and whether the value is partial. This function is called
/// when the result arrives at the thread.
void describe(Result& result, const PathValues& values) {
  result.path_values = &values;
  const bool is_partial = !result.is_complete();
  result.payload.set_type(values.moved_type, is_partial);
}

}  // namespace

namespace {

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
struct Path::StartedOperation final : runtime::Pending<Result>,
                                      runtime::Completion,
                                      runtime::Continuation,
                                      ServiceRoom,
                                      OperationState {
  StartedOperation(const Path& path, Operation&& started)
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

Path::Path(Deployment& deployment, std::uint32_t path, std::uint32_t thread, Owner& owner,
           std::shared_ptr<Failure> last_failure)
    : deployment_(&deployment),
      first_stage_(deployment.instance().stage(deployment.plan().paths[path].stage)),
      values_(&deployment.instance().values_of(path)),
      path_(path),
      thread_(thread),
      owner_(&owner),
      last_failure_(std::move(last_failure)) {
  ENSURE(first_stage_ != nullptr);
}

bool Path::has_started() const {
  if (!under_way_) return false;
  runtime::Lock lock(under_way_->mutex);
  return under_way_->count > 0;
}

/// Begins a use of the path by the calling thread.
/// Throws: UsageError if the thread may not use the path now.
Owner::Use Path::use(std::string_view what) const {
  if (owner_->is_caller() && released_)  // only the owner may read released_
    throw base::UsageError(fmt::format("path {}: {} after its release", graph(), what));
  return {*owner_, what, "path", graph()};
}

/// Calls `check`, which checks the arguments of a move. If `check` throws, fails the round for the
/// other threads with the text of the exception, and then rethrows the exception.
template <class Check>
void Path::check_move(const Check& check) {
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

void Path::check_moved(std::string_view what, const base::Payload& payload) {
  check_move([&] { values_->check_moved(what, payload); });
}

void Path::refuse_memory(base::ValueType wanted) {
  const Owner::Use used = use("move");
  check_move([&] { values_->refuse_result("move", wanted); });
  base::report_bug(__FILE__, __LINE__, "memory of another type was not refused");
}

/// Contributes a failure with the text `mistake` to the round, in place of a tuple that was
/// refused. Does not wait for the result.
void Path::fail_round(std::string_view mistake) {
  if (!values_->has_rounds) return;
  Operation operation = next_operation(OperationKind::move, 0, {});
  operation.failure = std::make_shared<TravelError>(
      deployment_->name(), "", "",
      fmt::format("{}: {}", deployment_->plan().beginner(path_, thread_), mistake),
      FailureCause::refused_value);
  begin(std::move(operation));
}

Operation Path::next_operation(OperationKind kind, std::uint64_t number, base::Payload payload) {
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

Result Path::operate(OperationKind kind, std::uint64_t number, base::Payload payload) {
  const Owner::Use used = use(operation_name(kind));
  return run(next_operation(kind, number, std::move(payload)));
}

/// Runs an operation and waits for its result. The operation enters the first stage after all
/// operations that the path has started before.
Result Path::run(Operation&& operation) {
  if (has_started()) return begin(std::move(operation)).wait();
  return noting_failure(
      *last_failure_, [&] { return run_stage(*deployment_, *first_stage_, std::move(operation)); });
}

/// Ignores errors of the element, because a later move into the element reports these errors.
base::Buffer Path::buffer(std::size_t bytes) {
  const Owner::Use used = use("buffer");
  for (const Stage* stage = first_stage_; stage != nullptr && !stage->wrapper->joins();
       stage = stage->below) {
    pastset::Element* const element = stage->wrapper->element_here();
    if (element == nullptr) continue;
    try {
      return element->buffer(bytes);
    } catch (const pastset::ElementError&) {
      break;
    }
  }
  return base::Buffer(bytes);
}

Result Path::move(base::Payload payload) {
  const Owner::Use used = use("move");
  check_moved("move", payload);
  Result result = run(next_operation(OperationKind::move, 0, std::move(payload)));
  describe(result, *values_);
  return result;
}

Result Path::move(base::Payload payload, std::span<std::byte> into) {
  Result result = move(std::move(payload));
  if (!result.is_complete())
    throw base::UsageError(
        fmt::format("path {}: memory for a result that covers {} of {} contributions; decide by "
                    "`condition`, or move without memory and call `partial<T>()`",
                    graph(), result.contributions, result.contributors()));
  const base::Payload came = std::exchange(result.payload, {});
  if (came.empty()) return result;
  if (came.size() != into.size())
    throw base::UsageError(fmt::format("path {}: a result of {} bytes for memory of {} bytes",
                                       graph(), came.size(), into.size()));
  std::memcpy(into.data(), came.bytes().data(), came.size());
  return result;
}

Started Path::start(base::Payload payload) {
  const Owner::Use used = use("start");
  check_moved("start", payload);
  return begin(next_operation(OperationKind::move, 0, std::move(payload)),
               deployment_->recorder().is_on());
}

Started Path::begin(Operation operation, bool is_recorded) {
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

void Path::push(base::Payload payload) {
  const Owner::Use used = use("push");
  check_moved("push", payload);
  go_one_way(next_operation(OperationKind::move, 0, std::move(payload)));
}

void Path::send(base::Payload payload) {
  const Owner::Use used = use("send");
  check_moved("send", payload);
  Operation operation = next_operation(OperationKind::move, 0, std::move(payload));
  operation.kept = true;
  go_one_way(std::move(operation));
}

void Path::go_one_way(Operation operation) {
  operation.one_way = true;
  run(std::move(operation));
}

void Path::enter(const pastset::Template& tuple_template) {
  const std::string text = tuple_template.text();
  operate(OperationKind::enter, 0,
          base::Payload::copy_of(std::as_bytes(std::span(text.data(), text.size()))));
}

pastset::Stored Path::read(OperationKind kind, std::uint64_t number) {
  Result result = operate(kind, number, {});
  result.payload.set_type(values_->read_type);
  return {result.number, std::move(result.payload)};
}
pastset::Stored Path::observe() { return read(OperationKind::observe, 0); }
pastset::Stored Path::observe(std::uint64_t number) {
  return read(OperationKind::observe_number, number);
}
pastset::Stored Path::newest(std::uint64_t from) { return read(OperationKind::newest, from); }

std::uint64_t Path::first() { return operate(OperationKind::first, 0, {}).number; }
std::uint64_t Path::last() { return operate(OperationKind::last, 0, {}).number; }
std::uint64_t Path::delta() { return operate(OperationKind::delta, 0, {}).number; }
void Path::set_delta(std::uint64_t delta) { operate(OperationKind::set_delta, delta, {}); }
void Path::axe(std::uint64_t number) { operate(OperationKind::axe, number, {}); }
void Path::delete_element() { operate(OperationKind::delete_element, 0, {}); }

std::vector<HostTraffic> Path::traffic(std::string_view graph) {
  const Owner::Use used = use("traffic");
  const Plan& plan = deployment_->plan();
  const auto number = plan.graph_named(graph);
  if (!number)
    throw base::UsageError(fmt::format("path {}: traffic of '{}', which is no graph of the plan{}",
                                       this->graph(), graph,
                                       base::did_you_mean(graph, names_of(plan.graphs))));
  Operation asked = next_operation(OperationKind::traffic, *number, {});
  Result answer = run_stage(*deployment_, *first_stage_, asked);
  deployment_->traffic().add_entry(asked, answer);
  std::vector<HostTraffic> hosts(answer.payload.size() / sizeof(HostTraffic));
  std::memcpy(hosts.data(), answer.payload.bytes().data(), hosts.size() * sizeof(HostTraffic));
  for (const HostTraffic& one : hosts) {
    if (one.host < deployment_->plan().hosts.size()) continue;
    throw TravelError(deployment_->name(), this->graph(), "",
                      fmt::format("a wrapper on the path counted traffic of host number {} of {}",
                                  one.host, deployment_->plan().hosts.size()));
  }
  return hosts;
}

const std::string& Path::graph() const { return deployment_->plan().paths[path_].graph; }

bool Path::holds_release() const {
  if (released_) return false;
  for (const Stage* stage = first_stage_; stage != nullptr; stage = stage->below)
    if (stage->wrapper->holds_releases()) return true;
  return has_started();
}

Operation Path::farewell(OperationKind kind, Failure failure) {
  Operation operation = next_operation(kind, 0, {});
  operation.one_way = true;
  operation.failure = std::move(failure);
  return operation;
}

void Path::withdraw(Failure failure) {
  owner_->check("withdraw", "path", graph());
  if (released_) return;
  const Owner::Use used = use("withdraw");
  try {
    run_stage(*deployment_, *first_stage_, farewell(OperationKind::withdraw, std::move(failure)));
  } catch (const TravelError&) {    // no action: `failure` or a lost peer is the cause
  } catch (const runtime::Stop&) {  // no action: the run cancels all of its threads
  }
}

void Path::release(Failure failure) {
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
void Path::wait_while_started(std::uint64_t at_least) {
  if (!under_way_) return;
  runtime::Lock lock(under_way_->mutex);
  while (under_way_->count >= at_least)
    under_way_->waiting.wait(lock, runtime::Deadline::never(),
                             {"the end of what was started on", graph(), sequence_});
}

}  // namespace paths
