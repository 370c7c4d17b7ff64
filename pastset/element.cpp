// SPDX-License-Identifier: Apache-2.0
// pastset/element.cpp — the log of an element, who waits for it, and who watches it.
#include "pastset/element.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.hpp"
#include "base/usage_error.hpp"

namespace pastset {
namespace {

// An X-function runs in the context that moves or observes, and mostly under the element's mutex.
thread_local const void* in_x_function = nullptr;

class XFunctionCall {
 public:
  XFunctionCall() : before_(std::exchange(in_x_function, runtime::calling_context())) {}
  ~XFunctionCall() { in_x_function = before_; }
  XFunctionCall(const XFunctionCall&) = delete;
  XFunctionCall& operator=(const XFunctionCall&) = delete;

 private:
  const void* before_;
};

}  // namespace

bool is_inside_an_x_function() {
  return in_x_function != nullptr && in_x_function == runtime::calling_context();
}

/// Stands in line from its making to its end; whoever makes room appends the tuple for it, so
/// that the order of the line, not that of waking up, is the order of the log.
struct Element::Mover {
  Mover(std::deque<Mover*>& in_line, base::Payload to_store)
      : line(in_line), stored(std::move(to_store)) {
    line.push_back(this);
  }
  ~Mover() {
    if (!number) std::erase(line, this);
  }
  Mover(const Mover&) = delete;
  Mover& operator=(const Mover&) = delete;

  std::deque<Mover*>& line;
  base::Payload stored;
  std::optional<std::uint64_t> number;  // once admitted
  runtime::WaitList waiting;
};

Element::Element(std::string name, Template tuple_template, ElementOptions options)
    : name_(std::move(name)),
      template_(std::move(tuple_template)),
      x_function_(std::move(options.x_function)),
      delta_(options.delta),
      keep_newest_(options.keep_newest) {}

Element::~Element() {
  ENSURE_EQ(blocked_, 0u);
  ENSURE(watchers_.empty());
}

std::uint64_t Element::move(const base::Payload& payload, runtime::Deadline deadline) {
  refuse_x_function();
  ensure_matches(payload, "the tuple");
  base::Payload stored = payload;
  if (x_function_.in) {
    const XFunctionCall call;
    stored = x_function_.in(payload);
  }
  if (x_function_.in && !x_function_.out) ensure_matches(stored, "what its X-function stores");

  base::Payload dropped;  // a payload's release function never runs under our mutex
  runtime::Wakes wakes;
  runtime::Lock lock = lock_alive();
  if (!movers_.empty() || !has_room()) {
    return move_when_admitted(std::move(stored), lock, deadline);
  }
  const std::uint64_t number = append(std::move(stored), wakes);
  dropped = drop_beyond_newest();
  return number;
}

std::uint64_t Element::move_when_admitted(base::Payload stored, runtime::Lock& lock,
                                          runtime::Deadline deadline) {
  Mover mover(movers_, std::move(stored));
  wait(mover.waiting, lock, deadline, {"room in element", name_, next_number()});
  if (mover.number) return *mover.number;
  ensure_alive();
  throw DeadlinePassed(fmt::format("element '{}': no room before the deadline, {} unobserved",
                                   name_, next_number() - first_));
}

Stored Element::observe(runtime::Deadline deadline) {
  runtime::Wakes wakes;
  runtime::Lock lock = lock_alive();
  wait_until([&] { return first_ < next_number() || error_mark_; }, lock, deadline, next_number());
  if (first_ == next_number()) throw Marked(*error_mark_);
  return take_oldest(wakes);
}

std::optional<Stored> Element::try_observe() {
  runtime::Wakes wakes;
  runtime::Lock lock = lock_alive();
  if (first_ == next_number()) return std::nullopt;
  return take_oldest(wakes);
}

Stored Element::observe(std::uint64_t number, runtime::Deadline deadline) {
  runtime::Lock lock = lock_alive();
  wait_until([&] { return number < next_number() || error_mark_; }, lock, deadline, number);
  if (number >= next_number()) throw Marked(*error_mark_);
  if (number < oldest_) {
    throw Expired(fmt::format("element '{}': tuple {} is gone, the oldest kept is {}", name_,
                              number, oldest_));
  }
  return read(number);
}

Stored Element::newest(std::uint64_t from, runtime::Deadline deadline) {
  runtime::Lock lock = lock_alive();
  wait_until([&] { return has_newest(from) || error_mark_; }, lock, deadline,
             std::max(from, next_number()));
  if (!has_newest(from)) throw Marked(*error_mark_);
  return read(next_number() - 1);
}

std::optional<Stored> Element::try_newest() const {
  runtime::Lock lock = lock_alive();
  if (!has_newest(0)) return std::nullopt;
  return read(next_number() - 1);
}

std::uint64_t Element::first() const {
  runtime::Lock lock = lock_alive();
  return first_;
}

std::uint64_t Element::last() const {
  runtime::Lock lock = lock_alive();
  return next_number();
}

std::uint64_t Element::delta() const {
  runtime::Lock lock = lock_alive();
  return delta_;
}

void Element::set_delta(std::uint64_t delta) {
  runtime::Wakes wakes;
  runtime::Lock lock = lock_alive();
  delta_ = delta;
  admit_movers(wakes);
}

void Element::axe(std::uint64_t number) {
  std::vector<base::Payload> freed;  // released after our mutex
  runtime::Lock lock = lock_alive();
  while (oldest_ < first_ && oldest_ <= number) {
    freed.push_back(kept_.take_front());
    ++oldest_;
  }
}

void Element::delete_element() {
  refuse_x_function();
  base::Ring<base::Payload> freed;  // released after our mutex
  runtime::Wakes wakes;
  runtime::Lock lock(mutex_);
  if (deleted_) return;
  deleted_ = true;
  freed.swap(kept_);
  readers_.wake_all(wakes);
  for (Mover* mover : movers_) mover->waiting.wake_all(wakes);
  tell_changed(wakes);
}

bool Element::is_deleted() const {
  refuse_x_function();
  runtime::Lock lock(mutex_);
  return deleted_;
}

void Element::mark_error(const std::string& error) {
  runtime::Wakes wakes;
  runtime::Lock lock = lock_alive();
  if (error_mark_) return;
  error_mark_ = error;
  readers_.wake_all(wakes);
  tell_changed(wakes);
}

std::optional<std::string> Element::error_mark() const {
  runtime::Lock lock = lock_alive();
  return error_mark_;
}

void Element::refuse_x_function() const {
  if (is_inside_an_x_function())
    throw base::UsageError(fmt::format("element '{}' was called by an X-function", name_));
}

runtime::Lock Element::lock_alive() const {
  refuse_x_function();
  runtime::Lock lock(mutex_);
  ensure_alive();
  return lock;
}

bool Element::has_room() const {
  return keep_newest_ > 0 || delta_ == 0 || next_number() - first_ < delta_;
}

/// Axe may have freed even the newest tuple, once it was observed.
bool Element::has_newest(std::uint64_t from) const {
  return !kept_.empty() && from < next_number();
}

/// Under the mutex, so that a throwing X-function leaves `first` where it was.
Stored Element::read(std::uint64_t number) const {
  const base::Payload& stored = kept_[number - oldest_];
  if (!x_function_.out) return {number, stored};
  const XFunctionCall call;
  Stored made{number, x_function_.out(stored)};
  ensure_matches(made.payload, "what its X-function returns");
  return made;
}

Stored Element::take_oldest(runtime::Wakes& wakes) {
  Stored oldest = read(first_);
  ++first_;
  admit_movers(wakes);
  return oldest;
}

std::uint64_t Element::append(base::Payload stored, runtime::Wakes& wakes) {
  const std::uint64_t number = next_number();
  kept_.push_back(std::move(stored));
  readers_.wake_all(wakes);
  tell_changed(wakes);
  return number;
}

base::Payload Element::drop_beyond_newest() {
  if (keep_newest_ == 0 || kept_.size() <= keep_newest_) return {};
  base::Payload dropped = kept_.take_front();
  ++oldest_;
  first_ = std::max(first_, oldest_);
  return dropped;
}

void Element::admit_movers(runtime::Wakes& wakes) {
  while (!movers_.empty() && has_room()) {
    Mover& mover = *movers_.front();
    mover.number = append(std::move(mover.stored), wakes);
    movers_.pop_front();
    mover.waiting.wake_all(wakes);
  }
}

template <class There>
void Element::wait_until(There there, runtime::Lock& lock, runtime::Deadline deadline,
                         std::uint64_t number) {
  while (!there()) {
    const runtime::Woken woken =
        wait(readers_, lock, deadline, {"tuple of element", name_, number});
    ensure_alive();
    if (woken == runtime::Woken::expired && !there()) {
      throw DeadlinePassed(
          fmt::format("element '{}': no tuple {} before the deadline", name_, number));
    }
  }
}

runtime::Woken Element::wait(runtime::WaitList& list, runtime::Lock& lock,
                             runtime::Deadline deadline, const runtime::Reason& reason) {
  struct Blocked {
    std::size_t& count;
    explicit Blocked(std::size_t& blocked) : count(++blocked) {}
    ~Blocked() { --count; }
  } blocked(blocked_);
  return list.wait(lock, deadline, reason);
}

void Element::tell_changed(runtime::Wakes& wakes) {
  for (AnyChange* watcher : watchers_) watcher->tell(*this, wakes);
}

void Element::ensure_alive() const {
  if (deleted_) throw Deleted(fmt::format("element '{}' was deleted", name_));
}

void Element::ensure_matches(const base::Payload& payload, std::string_view whose) const {
  const std::string mismatch = template_.mismatch(payload);
  if (mismatch.empty()) return;
  throw TemplateMismatch(
      fmt::format("element '{}': {} does not match: {}", name_, whose, mismatch));
}

AnyChange::AnyChange(std::vector<Element*> elements, const runtime::Runtime* clock)
    : elements_(std::move(elements)), clock_(clock), changed_at_(elements_.size(), base::Nanos(0)) {
  for (Element* element : elements_) {
    runtime::Lock lock(element->mutex_);
    element->watchers_.push_back(this);
  }
}

AnyChange::~AnyChange() {
  for (Element* element : elements_) {
    runtime::Lock lock(element->mutex_);
    std::erase(element->watchers_, this);
  }
}

std::uint64_t AnyChange::count() const {
  runtime::Lock lock(mutex_);
  return count_;
}

bool AnyChange::wait(std::uint64_t seen, runtime::Deadline deadline) {
  runtime::Lock lock(mutex_);
  const std::string_view subject = elements_.empty() ? "" : std::string_view(elements_[0]->name());
  while (count_ == seen) {
    const runtime::Woken woken =
        waiting_.wait(lock, deadline, {"change of any element from", subject, elements_.size()});
    if (woken == runtime::Woken::expired && count_ == seen) return false;
  }
  return true;
}

base::Nanos AnyChange::changed_at(std::size_t place) const {
  runtime::Lock lock(mutex_);
  return changed_at_.at(place);
}

void AnyChange::tell(const Element& changed, runtime::Wakes& wakes) {
  runtime::Lock lock(mutex_);
  ++count_;
  for (std::size_t place = 0; clock_ != nullptr && place < elements_.size(); ++place)
    if (elements_[place] == &changed) changed_at_[place] = clock_->now();
  waiting_.wake_all(wakes);
}

}  // namespace pastset
