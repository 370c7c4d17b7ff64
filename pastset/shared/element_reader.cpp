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

std::optional<Stored> SharedElementReader::glance(std::uint64_t number) const {
  std::optional<base::Payload> copied = log_.glance(number);
  refuse_deleted();
  if (!copied) return std::nullopt;
  if (const std::string mismatch = tuple_template().mismatch(*copied); !mismatch.empty())
    throw log_.overwritten(number, mismatch);
  copied->set_type(tuple_template().value_type());
  return Stored{number, std::move(*copied)};
}

bool SharedElementReader::has(std::uint64_t number) const {
  return number < log_.range().numbers_now().last;
}

bool SharedElementReader::has_newest(std::uint64_t from) const {
  const SharedLog::Numbers it = log_.range().numbers_now();
  return it.oldest < it.last && from < it.last;
}

Stored SharedElementReader::read_kept(std::uint64_t number) const {
  if (auto stored = glance(number)) return std::move(*stored);
  throw waiters_.expired(number, log_.range().numbers_now().oldest);
}

/// Copies the newest tuple. If that tuple is dropped during the copy, there is a newer tuple, and
/// this function tries to copy the newer tuple. Returns nullopt if there is no tuple, or after 1000
/// attempts.
std::optional<Stored> SharedElementReader::newest_now(std::uint64_t from) const {
  for (int tried = 0; tried < 1000 && has_newest(from); ++tried)
    if (auto stored = glance(log_.range().numbers_now().last - 1)) return stored;
  return std::nullopt;
}

Stored SharedElementReader::read_newest() const {
  if (auto stored = newest_now(0)) return std::move(*stored);
  const SharedLog::Numbers it = log_.range().numbers_now();
  throw waiters_.expired(it.last, it.oldest);
}

template <class There>
Stored SharedElementReader::read_when(There there, std::uint64_t number,
                                      runtime::Deadline deadline) {
  refuse_x_function(name());
  runtime::Lock lock(mutex_);
  for (bool is_late = false;;) {
    refuse_deleted();
    if (auto stored = there()) return std::move(*stored);
    if (const auto error = log_.users().why_none_comes()) std::rethrow_exception(error);
    if (is_late) throw DeadlinePassed(waiters_.no_tuple(number));
    listener_->look();
    is_late = waiters_.wait(waiters_.reads(), lock, deadline,
                            {"tuple of element", name(), number}) == runtime::Woken::expired;
  }
}

Stored SharedElementReader::observe(std::uint64_t number, runtime::Deadline deadline) {
  const auto there = [&] { return has(number) ? std::optional(read_kept(number)) : std::nullopt; };
  return read_when(there, number, deadline);
}

Stored SharedElementReader::newest(std::uint64_t from, runtime::Deadline deadline) {
  return read_when([&] { return newest_now(from); }, from, deadline);
}

std::optional<Stored> SharedElementReader::try_newest() const {
  refuse_x_function(name());
  refuse_deleted();
  return newest_now(0);
}

std::uint64_t SharedElementReader::first() const {
  refuse_deleted();
  return log_.range().numbers_now().first;
}

std::uint64_t SharedElementReader::last() const {
  refuse_deleted();
  return log_.range().numbers_now().last;
}

std::uint64_t SharedElementReader::delta() const {
  refuse_deleted();
  return log_.element().delta;
}

bool SharedElementReader::is_deleted() const { return log_.is_deleted(); }

std::optional<ErrorMark> SharedElementReader::error_mark() const {
  refuse_deleted();
  return log_.users().mark();
}

void SharedElementReader::refuse_deleted() const {
  if (log_.is_deleted()) throw waiters_.deleted();
}

// ---- operations that need write access -------------------------------------------------------

void SharedElementReader::refuse(const char* what) const {
  throw SharedSpaceError(
      fmt::format("element '{}' of shared space '{}', which may only be read "
                  "here: {}",
                  name(), mapping_->name(), what));
}

std::uint64_t SharedElementReader::move(const base::Payload&, runtime::Deadline) { refuse("move"); }
Stored SharedElementReader::observe(runtime::Deadline) { refuse("observe"); }
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
    refuse_deleted();
    const std::uint32_t changes = log_.element().changes;
    // The counter `changes` does not change when the owner of the space dies.
    const bool is_orphan = log_.users().why_orphaned() != nullptr;
    bool has_changed = std::exchange(seen_changes_, changes) != changes;
    has_changed |= std::exchange(seen_orphan_, is_orphan) != is_orphan;
    if (has_changed) waiters_.notify_changed(wakes);
    waiters_.started_reads().serve_all(*this, wakes);
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
    refuse_deleted();
    if (waiters_.started_reads().serve(access, *this, wakes)) return;
    if (const auto error = log_.users().why_none_comes()) std::rethrow_exception(error);
    waiters_.started_reads().begin(access);
    listener_->look();
    return;
  } catch (...) {
    access.error = std::current_exception();
  }
  wakes.notify(access);
}

bool SharedElementReader::cancel(Access& access) {
  const runtime::Lock lock(mutex_);
  if (!access.is_waiting) return false;
  waiters_.started_reads().leave(access);
  return true;
}

std::string SharedElementReader::lateness(const Access& access) const {
  return waiters_.no_tuple(std::max(access.number, log_.range().numbers_now().last));
}

void SharedElementReader::watch(AnyChange& watcher) {
  const runtime::Lock lock(mutex_);
  waiters_.watch(watcher);
  listener_->look();
}

void SharedElementReader::unwatch(AnyChange& watcher) {
  const runtime::Lock lock(mutex_);
  waiters_.unwatch(watcher);
}

}  // namespace pastset
