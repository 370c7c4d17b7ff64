// SPDX-License-Identifier: Apache-2.0
// pastset/shared/element_reader.cpp — lock-free reads of a shared element, and waits by polling
#include "pastset/shared/element_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "pastset/x_function_call.hpp"

namespace pastset {

SharedElementReader::SharedElementReader(std::shared_ptr<SharedMapping> mapping,
                                         std::shared_ptr<Doorbell> listener, std::uint32_t index,
                                         std::string name, Template tuple_template)
    : Element(std::move(name), std::move(tuple_template)),
      mapping_(std::move(mapping)),
      listener_(std::move(listener)),
      log_(*mapping_, index) {
  listener_->add(*this);
}

SharedElementReader::~SharedElementReader() {
  if (!mapping_->is_ours()) return;  // in the child of a fork, nothing waits
  listener_->remove(*this);
  runtime::DeferredWakes wakes;
  const runtime::Lock lock(mutex_);
  waiters_.started_reads().fail_all(std::make_exception_ptr(waiters_.deleted()), wakes);
  waiters_.ensure_none();
}

// ---- reading ---------------------------------------------------------------------------------

Stored SharedElementReader::read(Access::Kind kind, std::uint64_t number,
                                 runtime::Deadline deadline) {
  if (kind == Access::Kind::observe) refuse("observe");
  refuse_x_function(name());
  runtime::Lock lock(mutex_);
  for (bool is_late = false;;) {
    tuples_.refuse_deleted();
    if (kind == Access::Kind::newest) {
      if (auto stored = tuples_.newest_now(number)) return std::move(*stored);
    } else if (tuples_.has(kind, number)) {
      return tuples_.take(kind, number);
    }
    if (const auto error = log_.users().why_none_comes()) std::rethrow_exception(error);
    if (is_late) throw DeadlinePassed(waiters_.no_tuple(number));
    listener_->look();
    is_late = waiters_.wait(waiters_.reads(), lock, deadline,
                            {"tuple of element", name(), number}) == runtime::Woken::expired;
  }
}

std::optional<Stored> SharedElementReader::try_newest() const {
  refuse_x_function(name());
  tuples_.refuse_deleted();
  return tuples_.newest_now(0);
}

std::uint64_t SharedElementReader::first() const {
  tuples_.refuse_deleted();
  return log_.range().numbers_now().first;
}

std::uint64_t SharedElementReader::last() const {
  tuples_.refuse_deleted();
  return log_.range().numbers_now().last;
}

std::uint64_t SharedElementReader::delta() const {
  tuples_.refuse_deleted();
  return log_.element().delta;
}

bool SharedElementReader::is_deleted() const { return log_.is_deleted(); }

std::optional<ErrorMark> SharedElementReader::error_mark() const {
  tuples_.refuse_deleted();
  return log_.users().mark();
}

// ---- operations that need write access -------------------------------------------------------

void SharedElementReader::refuse(const char* what) const {
  throw SharedSpaceError(
      fmt::format("element '{}' of shared space '{}', which may only be read "
                  "here: {}",
                  name(), mapping_->name(), what));
}

std::uint64_t SharedElementReader::move(const base::Payload&, runtime::Deadline) { refuse("move"); }
std::optional<Stored> SharedElementReader::try_observe() { refuse("observe"); }
void SharedElementReader::set_delta(std::uint64_t) { refuse("delta"); }
void SharedElementReader::axe(std::uint64_t) { refuse("axe"); }
void SharedElementReader::delete_element() { refuse("delete"); }
void SharedElementReader::mark_error(const ErrorMark&) { refuse("mark"); }

// ---- waiting ---------------------------------------------------------------------------------

bool SharedElementReader::on_ring(runtime::DeferredWakes& wakes) {
  const runtime::Lock lock(mutex_);
  if (!waiters_.has_any()) return false;
  try {
    tuples_.refuse_deleted();
    const std::uint32_t changes = log_.element().changes;
    // The counter `changes` does not change when the owner of the space dies.
    const bool is_orphan = log_.users().why_orphaned() != nullptr;
    bool has_changed = std::exchange(seen_changes_, changes) != changes;
    has_changed |= std::exchange(seen_orphan_, is_orphan) != is_orphan;
    if (has_changed) waiters_.notify_changed(wakes);
    waiters_.started_reads().serve_all(tuples_, wakes);
    if (const auto error = log_.users().why_none_comes())
      waiters_.started_reads().fail_all(error, wakes);
  } catch (const ElementError&) {
    waiters_.notify_changed(wakes);  // readers detect the error themselves
    waiters_.started_reads().fail_all(std::current_exception(), wakes);
  }
  return waiters_.has_any();
}

void SharedElementReader::begin(Access& access) {
  refuse_x_function(name());
  runtime::DeferredWakes wakes;
  try {
    if (access.kind == Access::Kind::move) refuse("move");
    if (access.kind == Access::Kind::observe) refuse("observe");
    const runtime::Lock lock(mutex_);
    tuples_.refuse_deleted();
    if (waiters_.started_reads().serve(access, tuples_, wakes)) return;
    if (const auto error = log_.users().why_none_comes()) std::rethrow_exception(error);
    waiters_.started_reads().begin(access);
    listener_->look();
    return;
  } catch (...) {
    access.error = std::current_exception();
  }
  wakes.notify(access);
}

bool SharedElementReader::cancel(Access& access, std::string* lateness) {
  const runtime::Lock lock(mutex_);
  if (!access.is_waiting) return false;
  if (lateness != nullptr) {
    const std::uint64_t last = log_.range().numbers_now().last;
    *lateness = waiters_.no_tuple(std::max(access.number, last));
  }
  waiters_.started_reads().leave(access);
  return true;
}

void SharedElementReader::set_watcher(AnyChange& watcher, bool is_watching) {
  const runtime::Lock lock(mutex_);
  waiters_.set_watcher(watcher, is_watching);
  if (is_watching) listener_->look();
}

}  // namespace pastset
