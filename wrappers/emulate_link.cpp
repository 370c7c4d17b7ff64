// SPDX-License-Identifier: Apache-2.0
// wrappers/emulate_link.cpp — delay and order of messages on an emulated link.
#include "wrappers/emulate_link.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <string>

#include "base/link_model/read_link_model.hpp"
#include "eventspace/record.hpp"
#include "pastset/errors.hpp"

namespace wrappers {
namespace {

using paths::OperationKind;

constexpr std::uint32_t role_up = 1;  // index of the role `up`; `down` is 0

}  // namespace

struct EmulateLink::InLine {
  EmulateLink& link;
  const Place place;
  ~InLine() { link.leave(place); }
};

paths::Result EmulateLink::operate(paths::Operation operation, paths::Next next) {
  if (next.role() == role_up) return come_up(std::move(operation), next);
  return go_down(std::move(operation), next);
}

paths::Result EmulateLink::go_down(paths::Operation operation, const paths::Next& next) {
  if (operation.kind == OperationKind::withdraw) return next(std::move(operation));
  const LaneKey key{next.stage().id, operation.slot};
  if (join_lane(operation, key, next)) return {};
  if (operation.kind != OperationKind::release) travel_in_line(operation, key, next);
  return next(std::move(operation));
}

/// Delays a result or a failure on its way up. A failure is stored during the delay, because a
/// context must not sleep inside a catch block. Other fibers of the same thread would see the
/// exception.
paths::Result EmulateLink::come_up(paths::Operation operation, const paths::Next& next) {
  const bool answered = !operation.one_way && !paths::is_farewell(operation.kind);
  if (!answered) return next(std::move(operation));
  const std::uint64_t sequence = operation.sequence;
  const base::Payload moved = operation.payload;
  paths::Result result;
  std::exception_ptr failure;
  try {
    result = next(std::move(operation));
  } catch (const paths::TravelError&) {
    failure = std::current_exception();
  }
  const bool is_tuple_there = failure || result.payload.shares_bytes_with(moved);
  travel(is_tuple_there ? 0 : result.payload.size(), sequence, next);
  if (failure) std::rethrow_exception(failure);
  return result;
}

void EmulateLink::travel(std::size_t bytes, std::uint64_t sequence, const paths::Next& next) {
  runtime::Lock lock(mutex_);
  const base::Nanos arrives = offer(bytes, sequence, next);
  lock.unlock();
  deployment_.runtime().sleep_until(arrives);
}

/// Blocks until the operation's arrival time, and until earlier operations of its contributor have
/// continued. At the end, the destructor of `in_line` wakes the contributor's next operation.
/// Service contexts run one at a time, so this operation continues before the woken operation does.
void EmulateLink::travel_in_line(const paths::Operation& operation, LaneKey key,
                                 const paths::Next& next) {
  runtime::Lock lock(mutex_);
  const std::size_t bytes = operation.failure ? 0 : operation.payload.size();
  const base::Nanos arrives = offer(bytes, operation.sequence, next);
  const InLine in_line{*this, take_place(key)};
  lock.unlock();
  deployment_.runtime().sleep_until(arrives);
  wait_for_turn(in_line.place, operation.deadline());
}

EmulateLink::Passed EmulateLink::pass(base::Nanos now, std::size_t bytes) {
  runtime::Lock lock(link_->mutex);
  const base::Nanos queued = std::max(link_->instance.free_at() - now, base::Nanos(0));
  return {queued, link_->instance.pass(now, bytes)};
}

base::Nanos EmulateLink::last_arrival() {
  runtime::Lock lock(link_->mutex);
  return link_->instance.last_arrival();
}

base::Nanos EmulateLink::offer(std::size_t bytes, std::uint64_t sequence, const paths::Next& next) {
  const base::Nanos now = deployment_.runtime().now();
  const Passed passed = pass(now, bytes);
  eventspace::EventRecord record;
  record.place = next.stage().id;
  record.slot = static_cast<std::uint32_t>(
      std::min<std::int64_t>(passed.queued.count(), std::numeric_limits<std::uint32_t>::max()));
  record.sequence = sequence;
  record.kind = static_cast<std::uint8_t>(eventspace::EventKind::link);
  record.down_nanos = now.count();
  record.up_nanos = passed.arrives.count();
  record.bytes = eventspace::capped_bytes(bytes);
  deployment_.recorder().add(record);
  return passed.arrives;
}

/// Queues a push, or a release that follows queued pushes, for a service context. Returns whether
/// the operation was queued. Other operations continue in their own context.
bool EmulateLink::join_lane(paths::Operation& operation, LaneKey key, const paths::Next& next) {
  const bool release = operation.kind == OperationKind::release;
  if (!operation.one_way && !release) return false;
  runtime::Lock lock(mutex_);
  const bool empty = !lanes_.contains(key);
  if (release && empty) return false;
  const std::size_t bytes = operation.failure ? 0 : operation.payload.size();
  const base::Nanos arrives = release ? base::Nanos(0) : offer(bytes, operation.sequence, next);
  lanes_[key].push_back({std::move(operation), arrives, take_place(key)});
  lock.unlock();
  if (empty) {
    deployment_.services()
        .spawn("link", [this, key, rest = next.detached()] { empty_lane(key, rest); })
        .detach();
  }
  return true;
}

bool EmulateLink::is_first(const Place& place) const {
  return *line_.lower_bound({place.first, 0}) == place;
}

void EmulateLink::wait_for_turn(const Place& place, runtime::Deadline deadline) {
  runtime::Lock lock(mutex_);
  while (!is_first(place)) {
    const auto woken = emptied_.wait(lock, deadline, {"earlier operations over link", name()});
    if (woken == runtime::Woken::expired && !is_first(place)) {
      throw pastset::DeadlinePassed("earlier operations had not passed before the deadline");
    }
  }
}

void EmulateLink::leave(const Place& place) {
  runtime::DeferredWakes wakes;
  const runtime::Lock lock(mutex_);
  line_.erase(place);
  emptied_.wake_all(wakes);
}

/// Waits for all pushes. The deadline counts from the arrival time of the last push, because a push
/// waits only for its arrival.
void EmulateLink::drain() {
  runtime::Lock lock(mutex_);
  while (!lanes_.empty()) {
    runtime::Deadline deadline = deployment_.deadline();
    deadline.at += std::max(last_arrival() - deployment_.runtime().now(), base::Nanos(0));
    const auto woken = emptied_.wait(lock, deadline, {"last pushes over link", name()});
    if (woken == runtime::Woken::expired) return;
  }
}

void EmulateLink::empty_lane(LaneKey key, const paths::Next& next) {
  try {
    while (carry_first(key, next)) {
    }
  } catch (...) {
    close_lane(key);
    throw;
  }
}

bool EmulateLink::carry_first(LaneKey key, const paths::Next& next) {
  runtime::DeferredWakes wakes;
  runtime::Lock lock(mutex_);
  Lane& lane = lanes_.at(key);
  if (lane.empty()) {
    lanes_.erase(key);
    emptied_.wake_all(wakes);
    return false;
  }
  Pushed first = std::move(lane.front());
  lane.pop_front();
  lock.unlock();
  const InLine in_line{*this, first.place};
  deployment_.runtime().sleep_until(first.arrives);
  wait_for_turn(first.place, runtime::Deadline::never());
  try {
    next(std::move(first.operation));
  } catch (const paths::TravelError&) {
    // The sender of a push waits for no reply. Joins below have already received the failure.
  }
  return true;
}

void EmulateLink::close_lane(LaneKey key) {
  runtime::DeferredWakes wakes;
  runtime::Lock lock(mutex_);
  for (const Pushed& lost : lanes_.at(key)) line_.erase(lost.place);
  lanes_.erase(key);
  emptied_.wake_all(wakes);
}

paths::WrapperKind emulate_link_kind() {
  paths::WrapperKind kind;
  kind.name = "emulate_link";
  kind.help =
      "Delays messages as one direction of a link does; all paths through it share the link.";
  kind.job = paths::Job::link;
  kind.settings = {
      {"latency", "time", "0ns", "Time from the departure of a message to its arrival."},
      {"bandwidth", "rate", "unlimited", "Rate at which messages leave, one after the other."},
      {"trace", "word", "none",
       "File of recorded latencies and bandwidths, instead of latency; a relative name starts at "
       "the folder of the config."},
  };
  kind.roles = {"down", "up"};
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace& place) -> paths::MakeWrapper {
    const tuning::LinkModel model = tuning::read_link_model(reader);
    return [model, wrapper = place.wrapper()](paths::Deployment& deployment) {
      const std::string& name = deployment.plan().wrappers[wrapper].name;
      return std::make_unique<EmulateLink>(deployment,
                                           deployment.host().links().named(name, model));
    };
  };
  return kind;
}

}  // namespace wrappers
