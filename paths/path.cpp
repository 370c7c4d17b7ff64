// SPDX-License-Identifier: Apache-2.0
// paths/path.cpp — operations as a thread calls them.
#include "paths/path.hpp"

#include <cstring>
#include <exception>
#include <utility>

#include "base/errors.hpp"

namespace paths {

struct Started::State {
  runtime::Mutex mutex;
  runtime::WaitList waiting;
  bool done = false;
  Result result;
  std::exception_ptr error;
  std::string_view graph;
  std::uint64_t sequence = 0;
};

Result Started::wait() {
  ENSURE(state_ != nullptr);
  const auto state = std::exchange(state_, nullptr);
  runtime::Lock lock(state->mutex);
  while (!state->done)
    state->waiting.wait(lock, runtime::Deadline::never(),
                        {"the started operation", state->graph, state->sequence});
  if (state->error) std::rethrow_exception(state->error);
  return std::move(state->result);
}

/// What was started and has not ended. A service context may outlive the Path that started it.
struct Path::UnderWay {
  runtime::Mutex mutex;
  runtime::WaitList waiting;
  std::uint64_t count = 0;
};

Path::Path(Host& host, std::uint32_t path, std::uint32_t thread)
    : host_(&host),
      first_stage_(host.stage(host.plan().paths[path].stage)),
      path_(path),
      thread_(thread) {
  ENSURE(first_stage_ != nullptr);
}

bool Path::has_started() const {
  if (!under_way_) return false;
  runtime::Lock lock(under_way_->mutex);
  return under_way_->count > 0;
}

Operation Path::next_operation(OperationKind kind, std::uint64_t number, base::Payload payload) {
  ENSURE(!released_);
  Operation operation;
  operation.kind = kind;
  operation.path = path_;
  operation.thread = thread_;
  operation.slot = host_->plan().paths[path_].slot + thread_;
  operation.sequence = sequence_;
  // Only moves are counted: they are what joins key their rounds by, on every thread alike.
  if (kind == OperationKind::move) ++sequence_;
  operation.number = number;
  operation.payload = std::move(payload);
  return operation;
}

Result Path::operate(OperationKind kind, std::uint64_t number, base::Payload payload) {
  Operation operation = next_operation(kind, number, std::move(payload));
  // What was started may not have entered yet; this one must come behind it.
  if (has_started()) return start(std::move(operation)).wait();
  return run_stage(*host_, *first_stage_, std::move(operation));
}

Result Path::move(base::Payload payload) {
  return operate(OperationKind::move, 0, std::move(payload));
}

Started Path::start(base::Payload payload) {
  return start(next_operation(OperationKind::move, 0, std::move(payload)));
}

Started Path::start(Operation operation) {
  Started started;
  started.state_ = std::make_shared<Started::State>();
  started.state_->graph = graph();
  started.state_->sequence = operation.sequence;
  if (!under_way_) under_way_ = std::make_shared<UnderWay>();
  {
    runtime::Lock lock(under_way_->mutex);
    ++under_way_->count;
  }
  // Service contexts begin in the order they are spawned, so operations enter in sequence.
  host_->spawn_service("operation", [host = host_, stage = first_stage_, state = started.state_,
                                     under_way = under_way_, operation = std::move(operation)] {
    Result result;
    std::exception_ptr error;
    try {
      result = run_stage(*host, *stage, operation);
    } catch (...) {
      error = std::current_exception();
    }
    {
      runtime::Wakes wakes;
      runtime::Lock lock(under_way->mutex);
      --under_way->count;
      under_way->waiting.wake_all(wakes);
    }
    runtime::Wakes wakes;
    runtime::Lock lock(state->mutex);
    state->result = std::move(result);
    state->error = error;
    state->done = true;
    state->waiting.wake_all(wakes);
  });
  return started;
}

void Path::push(base::Payload payload) {
  go_one_way(next_operation(OperationKind::move, 0, std::move(payload)));
}

void Path::send(base::Payload payload) {
  Operation operation = next_operation(OperationKind::move, 0, std::move(payload));
  operation.kept = true;
  go_one_way(std::move(operation));
}

void Path::go_one_way(Operation operation) {
  operation.one_way = true;
  if (has_started()) {
    start(std::move(operation)).wait();
  } else {
    run_stage(*host_, *first_stage_, std::move(operation));
  }
}

void Path::enter(const pastset::Template& tuple_template) {
  const std::string text = tuple_template.text();
  operate(OperationKind::enter, 0,
          base::Payload::copy_of(std::as_bytes(std::span(text.data(), text.size()))));
}

pastset::Stored Path::observe() {
  Result result = operate(OperationKind::observe, 0, {});
  return {result.number, std::move(result.payload)};
}
pastset::Stored Path::observe(std::uint64_t number) {
  Result result = operate(OperationKind::observe_number, number, {});
  return {result.number, std::move(result.payload)};
}
pastset::Stored Path::newest(std::uint64_t from) {
  Result result = operate(OperationKind::newest, from, {});
  return {result.number, std::move(result.payload)};
}

std::uint64_t Path::first() { return operate(OperationKind::first, 0, {}).number; }
std::uint64_t Path::last() { return operate(OperationKind::last, 0, {}).number; }
std::uint64_t Path::delta() { return operate(OperationKind::delta, 0, {}).number; }
void Path::set_delta(std::uint64_t delta) { operate(OperationKind::set_delta, delta, {}); }
void Path::axe(std::uint64_t number) { operate(OperationKind::axe, number, {}); }
void Path::delete_element() { operate(OperationKind::delete_element, 0, {}); }

std::vector<HostTraffic> Path::traffic(std::string_view graph) {
  const auto number = host_->plan().graph_named(graph);
  if (!number) return {};
  Operation asked = next_operation(OperationKind::traffic, *number, {});
  Result answer = run_stage(*host_, *first_stage_, asked);
  host_->add_traffic(asked, answer);
  std::vector<HostTraffic> hosts(answer.payload.size() / sizeof(HostTraffic));
  std::memcpy(hosts.data(), answer.payload.bytes().data(), hosts.size() * sizeof(HostTraffic));
  return hosts;
}

void Path::release(const std::string& reason) {
  if (released_) return;
  Operation operation = next_operation(OperationKind::release, 0, {});
  if (!reason.empty()) operation.failure = host_->failure("", path_, reason);
  released_ = true;
  try {
    wait_for_started();
    run_stage(*host_, *first_stage_, std::move(operation));
  } catch (const TravelError&) {    // the peer is gone and needs no release
  } catch (const runtime::Stop&) {  // this thread is cancelled, and all of them end
  }
  host_->path_released();
}

void Path::wait_for_started() {
  if (!under_way_) return;
  runtime::Lock lock(under_way_->mutex);
  while (under_way_->count > 0)
    under_way_->waiting.wait(lock, runtime::Deadline::never(),
                             {"the end of what was started on", graph(), sequence_});
}

}  // namespace paths
