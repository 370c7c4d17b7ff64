// SPDX-License-Identifier: Apache-2.0
// pastset/shared_element.cpp — who waits in this process for a log that all processes change.
#include "pastset/shared_element.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.hpp"
#include "pastset/any_change.hpp"
#include "pastset/x_function_call.hpp"
#include "runtime/moment.hpp"

namespace pastset {

using shared::Waiting;

// ---- hearing of other processes --------------------------------------------------------------

SharedListener::SharedListener(std::shared_ptr<SharedMapping> mapping)
    : mapping_(std::move(mapping)) {
  const runtime::Lock lock(mutex_);  // they may be called before they are here
  threads_ = std::make_unique<runtime::BellThreads>(
      mapping_->segment().processes[mapping_->me()].bell, [this] { rung(); },
      [this](runtime::ProcessIdentity gone) {
        try {
          return mapping_->clear(gone);
        } catch (const ElementError&) {
          return false;
        }
      });
}

SharedListener::~SharedListener() {
  if (!mapping_->is_ours()) threads_.release();  // there are none in the child of a fork
}

void SharedListener::add(SharedElement& element) {
  const runtime::Lock lock(mutex_);
  elements_.push_back(&element);
}

void SharedListener::remove(SharedElement& element) {
  const runtime::Lock lock(mutex_);
  std::erase(elements_, &element);
}

void SharedListener::rung() {
  runtime::Wakes wakes;
  const runtime::Lock lock(mutex_);
  if (const std::uint32_t now = mapping_->segment().process_changes; now != process_changes_) {
    process_changes_ = now;
    std::vector<runtime::ProcessIdentity> others = mapping_->processes();
    std::erase(others, runtime::ProcessIdentity(others[mapping_->me()]));
    std::erase(others, runtime::ProcessIdentity{});
    threads_->listen_for(std::move(others));
  }
  for (SharedElement* element : elements_) element->rung(wakes);
}

// ---- holding an element ----------------------------------------------------------------------

/// Both locks: of who waits in this process, and of the log. Who has to wait for the log lets ours
/// go meanwhile, so that others of this process wait beside him, each for his own time, and those
/// who need ours only do not.
class SharedElement::Hold {
 public:
  enum class Of : std::uint8_t { live, any, ours };
  explicit Hold(const SharedElement& element, Of of = Of::live)
      : element_(element), lock_(element.mutex_) {
    if (of == Of::any) take();
    if (of == Of::live) take_live();
  }
  ~Hold() { let_go_log(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  runtime::Lock& lock() { return lock_; }
  bool has_log() const { return has_log_; }
  void let_go_log() {
    if (std::exchange(has_log_, false)) element_.log_.let_go();
  }
  void let_go() {
    let_go_log();
    lock_.unlock();
  }
  /// Ours is held after it, however it ends. A fiber lets others of its thread go on meanwhile, and
  /// is thrown a Stop.
  void take() {
    if (!try_take(element_.mapping_->lock_patience(), runtime::rest_fiber))
      throw element_.log_.held_for_long();
  }
  /// `rest` as rest_fiber().
  bool try_take(
      base::Nanos patience, bool (*rest)(base::Nanos) = [](base::Nanos) { return false; }) {
    if (!lock_.owns_lock()) lock_.lock();
    has_log_ = element_.log_.try_take(base::Nanos{0});
    if (!has_log_) {
      lock_.unlock();
      try {
        const base::Nanos end = runtime::steady_now() + patience;
        while (!has_log_ && runtime::steady_now() < end && rest(resting))
          has_log_ = element_.log_.try_take(base::Nanos{0});
        if (!has_log_)
          has_log_ = element_.log_.try_take(std::max(end - runtime::steady_now(), base::Nanos{0}));
      } catch (...) {
        lock_.lock();
        throw;
      }
      lock_.lock();
    }
    if (has_log_ && !element_.orphans_.empty()) element_.drop_orphans();
    return has_log_;
  }
  void take_live() {
    take();
    if (!element_.log_.is_deleted()) return;
    let_go_log();
    throw element_.deleted();
  }

 private:
  static constexpr base::Nanos resting{1'000'000};
  const SharedElement& element_;
  runtime::Lock lock_;
  bool has_log_ = false;
};

/// In line in shared memory; what is here is who is told when its turn has come.
struct SharedElement::Mover {
  base::Payload stored;
  std::uint32_t place = 0;
  std::optional<std::uint64_t> number;  // once admitted, and out of line
  std::exception_ptr error;
  runtime::WaitList waiting;
  Access* access = nullptr;  // who stands here without a context
};

SharedElement::SharedElement(std::shared_ptr<SharedMapping> mapping,
                             std::shared_ptr<SharedListener> listener, std::uint32_t index,
                             std::string name, Template tuple_template, XFunction x_function)
    : Element(std::move(name), std::move(tuple_template)),
      mapping_(std::move(mapping)),
      listener_(std::move(listener)),
      x_function_(std::move(x_function)),
      log_(*mapping_, index),
      seen_changes_(log_.element().changes) {
  listener_->add(*this);
}

SharedElement::~SharedElement() {
  if (!mapping_->is_ours()) return;  // nobody waits here in the child of a fork
  listener_->remove(*this);
  runtime::Wakes wakes;
  Hold hold(*this, Hold::Of::ours);
  fail_all(std::make_exception_ptr(deleted()), wakes);
  try {
    if (!orphans_.empty()) hold.try_take(mapping_->lock_patience());
  } catch (const ElementError&) {
    // It is forgotten with our process.
  }
  ENSURE_EQ(blocked_, 0u);
  ENSURE(watchers_.empty());
}

// ---- moving ----------------------------------------------------------------------------------

std::uint64_t SharedElement::move(const base::Payload& payload, runtime::Deadline deadline) {
  refuse_x_function(name());
  base::Payload stored = to_store(*this, x_function_, payload);
  runtime::Wakes wakes;
  Hold hold(*this);
  refuse_orphan();
  log_.note_mover();
  if (!append(stored)) return move_when_admitted(std::move(stored), hold, deadline);
  const std::uint64_t number = log_.numbers().last - 1;
  settle(wakes);
  return number;
}

bool SharedElement::append(const base::Payload& stored) {
  return log_.is_line_empty() && log_.has_room() && log_.append(stored.bytes());
}

std::uint64_t SharedElement::move_when_admitted(base::Payload stored, Hold& hold,
                                                runtime::Deadline deadline) {
  if (!log_.may_wait()) throw SharedSpaceFull(log_.why_no_room());
  if (const auto error = why_no_room_comes()) std::rethrow_exception(error);
  Mover mover;
  mover.place = log_.join_line(stored.bytes());
  mover.stored = std::move(stored);
  movers_.push_back(&mover);
  // Its memory is found here only, by whoever is rung for a change.
  if (log_.in_line(mover.place).state == Waiting::needs_memory) log_.listen();
  try {
    wait_for_admission(mover, hold, deadline);
  } catch (...) {
    try_take(hold, SharedMapping::brief_patience);
    if (!mover.number && !mover.error) withdraw(mover, hold);
    throw;
  }
  if (mover.error) std::rethrow_exception(mover.error);
  return *mover.number;
}

/// Both locks are held, as where it ends, unless it throws: then our mutex, and perhaps the log.
void SharedElement::wait_for_admission(Mover& mover, Hold& hold, runtime::Deadline deadline) {
  const runtime::Reason reason{"room in element", name(), log_.numbers().last};
  const std::atomic<std::uint32_t>& state = log_.in_line(mover.place).state;
  const auto is_waiting = [&] { return state == Waiting::ready || state == Waiting::needs_memory; };
  const auto take = [&] {
    hold.take();
    if (!mover.number && log_.is_deleted()) throw deleted();
    log_.numbers();  // throws when they were overwritten
  };
  bool may_look = true, is_settled = false, is_late = false;
  for (; !mover.number && !mover.error; take()) {
    if (!std::exchange(is_settled, true) || !is_waiting()) {
      runtime::Wakes wakes;
      settle(wakes);
      hold.let_go();  // before anybody is woken
    } else if (is_late) {
      throw DeadlinePassed(no_room());  // nobody can give it its turn any more
    } else if (std::exchange(may_look, false) && state == Waiting::ready) {
      look(state, Waiting::ready, hold, deadline, reason);
    } else if (const auto error = why_no_room_comes()) {
      std::rethrow_exception(error);  // since we looked, when nobody had to ring for us
    } else {
      is_late = wait(mover.waiting, hold, deadline, reason) == runtime::Woken::expired;
    }
  }
}

/// Where it is no error that the log cannot be had. Ours may have been let go meanwhile.
void SharedElement::try_take(Hold& hold, base::Nanos patience) const {
  try {
    if (!hold.has_log()) hold.try_take(patience);
  } catch (const ElementError&) {
    // Those who need it are told.
  }
}

/// Of one that gives up: called with our mutex, and with the log unless it could not be had.
void SharedElement::withdraw(Mover& mover, const Hold& hold) {
  std::erase(movers_, &mover);
  orphans_.push_back(mover.place);
  if (hold.has_log())
    drop_orphans();
  else
    come_back();
}

/// Those that gave up; who is behind them goes on. Both locks are held.
void SharedElement::drop_orphans() const {
  const std::vector<std::uint32_t> orphans = std::exchange(orphans_, {});
  if (log_.is_deleted()) return;
  for (const std::uint32_t place : orphans) log_.leave_line(place);
  try {
    if (log_.admit()) come_back();  // to settle the rest
  } catch (const ElementError&) {
    // Who waits finds out for himself.
  }
}

/// Has rung() called soon.
void SharedElement::come_back() const {
  log_.listen();
  mapping_->ring(std::uint32_t{1} << mapping_->me());
}

bool SharedElement::never_keeps_movers() const {
  return log_.element().keep_newest.load(std::memory_order_relaxed) > 0 && !x_function_.in;
}

// ---- reading ---------------------------------------------------------------------------------

Stored SharedElement::observe(runtime::Deadline deadline) {
  refuse_x_function(name());
  runtime::Wakes wakes;
  Hold hold(*this);
  const auto is_there = [&] {
    const SharedLog::Numbers it = log_.numbers();
    return it.first < it.last;
  };
  wait_until([&] { return is_there() || why_none_comes(); }, hold, deadline, log_.numbers().last);
  if (!is_there()) std::rethrow_exception(why_none_comes());
  Stored oldest = take_oldest();
  settle(wakes);
  return oldest;
}

std::optional<Stored> SharedElement::try_observe() {
  refuse_x_function(name());
  runtime::Wakes wakes;
  Hold hold(*this);
  const SharedLog::Numbers it = log_.numbers();
  if (it.first == it.last) return std::nullopt;
  Stored oldest = take_oldest();
  settle(wakes);
  return oldest;
}

Stored SharedElement::observe(std::uint64_t number, runtime::Deadline deadline) {
  refuse_x_function(name());
  Hold hold(*this);
  const auto is_there = [&] { return number < log_.numbers().last; };
  wait_until([&] { return is_there() || why_none_comes(); }, hold, deadline, number);
  if (!is_there()) std::rethrow_exception(why_none_comes());
  return read_kept(number);
}

Stored SharedElement::newest(std::uint64_t from, runtime::Deadline deadline) {
  refuse_x_function(name());
  Hold hold(*this);
  wait_until([&] { return has_newest(from) || why_none_comes(); }, hold, deadline,
             std::max(from, log_.numbers().last));
  if (!has_newest(from)) std::rethrow_exception(why_none_comes());
  return read(log_.numbers().last - 1);
}

std::optional<Stored> SharedElement::try_newest() const {
  refuse_x_function(name());
  const Hold hold(*this);
  if (!has_newest(0)) return std::nullopt;
  return read(log_.numbers().last - 1);
}

bool SharedElement::has_newest(std::uint64_t from) const {
  const SharedLog::Numbers it = log_.numbers();
  return it.oldest < it.last && from < it.last;
}

/// While it is held, so that a throwing X-function leaves `first` where it was.
Stored SharedElement::read(std::uint64_t number) const {
  base::Payload stored = log_.read(number, mapping_);
  if (!x_function_.in && !x_function_.out)
    if (const std::string mismatch = tuple_template().mismatch(stored); !mismatch.empty())
      throw SharedSpaceError(
          fmt::format("element '{}' of shared space '{}': tuple {} was overwritten: {}", name(),
                      mapping_->name(), number, mismatch));
  return {number, from_stored(*this, x_function_, std::move(stored))};
}

Stored SharedElement::read_kept(std::uint64_t number) const {
  const std::uint64_t oldest = log_.numbers().oldest;
  if (number >= oldest) return read(number);
  throw Expired(
      fmt::format("element '{}': tuple {} is gone, the oldest kept is {}", name(), number, oldest));
}

Stored SharedElement::take_oldest() {
  Stored oldest = read(log_.numbers().first);
  log_.note_taker();
  log_.take_first();
  log_.admit();
  return oldest;
}

// ---- what never blocks -----------------------------------------------------------------------

std::uint64_t SharedElement::first() const {
  refuse_x_function(name());
  const Hold hold(*this);
  return log_.numbers().first;
}

std::uint64_t SharedElement::last() const {
  refuse_x_function(name());
  const Hold hold(*this);
  return log_.numbers().last;
}

std::uint64_t SharedElement::delta() const {
  refuse_x_function(name());
  const Hold hold(*this);
  return log_.element().delta;
}

void SharedElement::set_delta(std::uint64_t delta) {
  refuse_x_function(name());
  runtime::Wakes wakes;
  const Hold hold(*this);
  log_.element().delta = delta;
  settle(wakes);
}

void SharedElement::axe(std::uint64_t number) {
  refuse_x_function(name());
  runtime::Wakes wakes;
  const Hold hold(*this);
  log_.note_taker();
  log_.free_to(number);
  if (log_.is_line_empty()) return;
  log_.note_change();  // there may be memory for who waits in another process
  settle(wakes);
}

void SharedElement::delete_element() {
  refuse_x_function(name());
  runtime::Wakes wakes;
  const Hold hold(*this, Hold::Of::any);
  if (log_.is_deleted()) return;
  log_.note_change();
  log_.element().state = shared::Element::deleted;
  wake_all(wakes);
  tell_changed(wakes);
  fail_all(std::make_exception_ptr(deleted()), wakes);
}

bool SharedElement::is_deleted() const {
  refuse_x_function(name());
  return log_.is_deleted();
}

void SharedElement::mark_error(const std::string& error) {
  refuse_x_function(name());
  runtime::Wakes wakes;
  const Hold hold(*this);
  if (is_marked()) return;
  write_text(log_.element().mark, error);
  log_.element().is_marked = 1;
  log_.note_change();
  settle(wakes);
}

std::optional<std::string> SharedElement::error_mark() const {
  refuse_x_function(name());
  const Hold hold(*this);
  if (!is_marked()) return std::nullopt;
  return marked().what();
}

// ---- waiting ---------------------------------------------------------------------------------

template <class There>
void SharedElement::wait_until(There there, Hold& hold, runtime::Deadline deadline,
                               std::uint64_t number) {
  const runtime::Reason reason{"tuple of element", name(), number};
  for (bool may_look = true; !there(); hold.take_live()) {
    const std::atomic<std::uint32_t>& changes = log_.element().changes;
    if (may_look) {
      may_look = look(changes, changes, hold, deadline, reason);
      continue;
    }
    if (wait(readers_, hold, deadline, reason) == runtime::Woken::notified) continue;
    hold.take_live();
    if (!there()) throw DeadlinePassed(no_tuple(number));
    return;
  }
}

/// Lets the log go, but holds our mutex again.
runtime::Woken SharedElement::wait(runtime::WaitList& list, Hold& hold, runtime::Deadline deadline,
                                   const runtime::Reason& reason) {
  log_.listen();
  hold.let_go_log();
  struct Blocked {
    std::size_t& count;
    explicit Blocked(std::size_t& blocked) : count(++blocked) {}
    ~Blocked() { --count; }
  } blocked(blocked_);
  return list.wait(hold.lock(), deadline, reason);
}

/// The same, at the shared memory; nobody has to ring for us.
bool SharedElement::look(const std::atomic<std::uint32_t>& word, std::uint32_t seen, Hold& hold,
                         runtime::Deadline deadline, const runtime::Reason& reason) {
  ++blocked_;
  hold.let_go();
  const bool has_changed = runtime::look_at(word, seen, deadline, reason);
  hold.lock().lock();
  --blocked_;
  return has_changed;
}

/// After a change, of ours or of others: all that can happen now happens. Both locks are held. When
/// the memory was overwritten, those who wait are told, not the caller.
void SharedElement::settle(runtime::Wakes& wakes) {
  try {
    settle_readable(wakes);
  } catch (const ElementError&) {
    fail_all(std::current_exception(), wakes);
    wake_all(wakes);  // they find out for themselves
  }
}

void SharedElement::settle_readable(runtime::Wakes& wakes) {
  for (bool has_served = true; has_served;) {
    has_served = log_.admit();
    if (!movers_.empty()) has_served |= answer_movers(wakes);
    for (Access* access = first_reader_; access != nullptr;) {
      Access* const next = access->next;
      has_served |= serve(*access, wakes);
      access = next;
    }
  }
  const std::uint32_t changes = log_.element().changes.load(std::memory_order_relaxed);
  if (std::exchange(seen_changes_, changes) == changes) return;
  readers_.wake_all(wakes);
  tell_changed(wakes);
  if (first_reader_ != nullptr)
    if (const auto error = why_none_comes()) fail_readers(error, wakes);
  if (!movers_.empty())
    if (const auto error = why_no_room_comes()) fail_movers(error, wakes);
}

/// Says whether one more is ready for room.
bool SharedElement::answer_movers(runtime::Wakes& wakes) {
  bool is_one_ready = false;
  for (std::size_t i = 0; i < movers_.size();) {
    Mover& mover = *movers_[i];
    is_one_ready |= log_.find_memory(mover.place, mover.stored.bytes());
    const shared::Waiting& in_line = log_.in_line(mover.place);
    const std::uint32_t state = in_line.state;
    if (state == Waiting::ready || state == Waiting::needs_memory) {
      ++i;
      continue;
    }
    if (state == Waiting::admitted) {
      mover.number = in_line.number;
    } else {
      mover.error = std::make_exception_ptr(SharedSpaceError(
          fmt::format("element '{}' of shared space '{}': a place in line was overwritten", name(),
                      mapping_->name())));
    }
    log_.leave_line(mover.place);
    movers_.erase(movers_.begin() + static_cast<std::ptrdiff_t>(i));
    mover.waiting.wake_all(wakes);
    if (mover.access == nullptr) continue;
    if (mover.number)
      answer(*mover.access, *mover.number, wakes);
    else
      fail(*mover.access, mover.error, wakes);
    delete &mover;
  }
  return is_one_ready;
}

/// Another process has changed something, or perhaps it has. An element at which nobody sleeps is
/// not even locked, and one that is held for long is come back to, so that it delays no other.
void SharedElement::rung(runtime::Wakes& wakes) {
  if (!log_.listens() && !log_.is_deleted()) return;
  Hold hold(*this, Hold::Of::ours);
  try {
    if (!log_.is_deleted() && !hold.try_take(SharedMapping::brief_patience)) {
      const base::Nanos now = runtime::steady_now();
      if (!held_since_) held_since_ = now;
      if (now - *held_since_ > mapping_->lock_patience()) throw log_.held_for_long();
      come_back();
      return;
    }
    held_since_.reset();
    if (log_.is_deleted()) {
      orphans_.clear();
      if (!is_anybody_here()) return;
      wake_all(wakes);
      tell_changed(wakes);
      fail_all(std::make_exception_ptr(deleted()), wakes);
      return;
    }
    settle(wakes);
    if (!is_anybody_here()) log_.no_longer_listen();
  } catch (const ElementError&) {
    held_since_.reset();
    fail_all(std::current_exception(), wakes);
    wake_all(wakes);  // they find out for themselves
  }
}

bool SharedElement::is_anybody_here() const {
  return blocked_ > 0 || first_reader_ != nullptr || !movers_.empty() || !watchers_.empty();
}

void SharedElement::wake_all(runtime::Wakes& wakes) {
  readers_.wake_all(wakes);
  for (Mover* mover : movers_) mover->waiting.wake_all(wakes);
}

// ---- those that wait without a context -------------------------------------------------------

void SharedElement::begin(Access& access) {
  refuse_x_function(name());
  runtime::Wakes wakes;
  try {
    if (access.kind == Access::Kind::move) {
      base::Payload stored = to_store(*this, x_function_, access.tuple);
      const Hold hold(*this);
      begin_move(access, std::move(stored), wakes);
    } else {
      const Hold hold(*this);
      if (!serve(access, wakes)) {
        if (const auto error = why_none_comes()) std::rethrow_exception(error);
        log_.listen();
        wait_in_line(access);
      } else if (access.kind == Access::Kind::observe) {
        settle(wakes);
      }
    }
    return;
  } catch (...) {
    access.error = std::current_exception();
  }
  wakes.tell(access);
}

void SharedElement::begin_move(Access& access, base::Payload stored, runtime::Wakes& wakes) {
  refuse_orphan();
  log_.note_mover();
  if (append(stored)) {
    answer(access, log_.numbers().last - 1, wakes);
    settle(wakes);
    return;
  }
  if (!log_.may_wait()) throw SharedSpaceFull(log_.why_no_room());
  if (const auto error = why_no_room_comes()) std::rethrow_exception(error);
  auto mover = std::make_unique<Mover>();
  mover->place = log_.join_line(stored.bytes());
  mover->stored = std::move(stored);
  mover->access = &access;
  access.is_waiting = true;
  movers_.push_back(mover.release());  // the line's
  log_.listen();
  settle(wakes);
}

/// False when it has to wait.
bool SharedElement::serve(Access& access, runtime::Wakes& wakes) {
  Stored there;
  try {
    const SharedLog::Numbers it = log_.numbers();
    switch (access.kind) {
      case Access::Kind::observe:
        if (it.first == it.last) return false;
        there = take_oldest();
        break;
      case Access::Kind::observe_number:
        if (access.number >= it.last) return false;
        there = read_kept(access.number);
        break;
      default:
        if (!has_newest(access.number)) return false;
        there = read(it.last - 1);
    }
  } catch (...) {
    fail(access, std::current_exception(), wakes);
    return true;
  }
  access.tuple = std::move(there.payload);
  answer(access, there.number, wakes);
  return true;
}

void SharedElement::wait_in_line(Access& access) {
  access.is_waiting = true;
  access.next = nullptr;
  access.previous = last_reader_;
  (last_reader_ != nullptr ? last_reader_->next : first_reader_) = &access;
  last_reader_ = &access;
}

void SharedElement::leave_line(Access& access) {
  if (!std::exchange(access.is_waiting, false) || access.kind == Access::Kind::move) return;
  (access.previous != nullptr ? access.previous->next : first_reader_) = access.next;
  (access.next != nullptr ? access.next->previous : last_reader_) = access.previous;
}

void SharedElement::answer(Access& access, std::uint64_t number, runtime::Wakes& wakes) {
  leave_line(access);
  access.number = number;
  wakes.tell(access);
}

void SharedElement::fail(Access& access, std::exception_ptr error, runtime::Wakes& wakes) {
  leave_line(access);
  access.error = std::move(error);
  wakes.tell(access);
}

/// Of those in line, who have no room.
void SharedElement::fail_movers(const std::exception_ptr& error, runtime::Wakes& wakes) {
  for (Mover* mover : std::exchange(movers_, {})) {
    log_.leave_line(mover->place);
    mover->error = error;
    mover->waiting.wake_all(wakes);
    if (mover->access == nullptr) continue;
    fail(*mover->access, error, wakes);
    delete mover;
  }
}

void SharedElement::fail_readers(const std::exception_ptr& error, runtime::Wakes& wakes) {
  while (first_reader_ != nullptr) fail(*first_reader_, error, wakes);
}

void SharedElement::fail_all(const std::exception_ptr& error, runtime::Wakes& wakes) {
  fail_readers(error, wakes);
  const std::deque<Mover*> movers = movers_;
  for (Mover* mover : movers) {
    if (mover->access == nullptr) continue;
    fail(*mover->access, error, wakes);
    std::erase(movers_, mover);
    orphans_.push_back(mover->place);
    delete mover;
  }
  if (!orphans_.empty()) come_back();
}

bool SharedElement::cancel(Access& access) {
  runtime::Wakes wakes;
  std::unique_ptr<Mover> mover;  // its tuple goes after our locks
  Hold hold(*this, Hold::Of::ours);
  if (!access.is_waiting) return false;
  if (access.kind != Access::Kind::move) {
    leave_line(access);
    return true;
  }
  try_take(hold, mapping_->lock_patience());
  if (!access.is_waiting) return false;
  Mover* const standing = *std::find_if(movers_.begin(), movers_.end(),
                                        [&](const Mover* one) { return one->access == &access; });
  if (hold.has_log() && !log_.is_deleted() &&
      log_.in_line(standing->place).state == Waiting::admitted) {
    settle(wakes);  // another process has just given it its turn
    return false;
  }
  mover.reset(standing);
  withdraw(*mover, hold);
  leave_line(access);
  return true;
}

std::string SharedElement::lateness(const Access& access) const {
  const Hold hold(*this, Hold::Of::any);
  switch (access.kind) {
    case Access::Kind::move: return no_room();
    case Access::Kind::observe_number: return no_tuple(access.number);
    default: return no_tuple(std::max(access.number, log_.numbers().last));
  }
}

void SharedElement::watch(AnyChange& watcher) {
  const Hold hold(*this, Hold::Of::any);
  log_.listen();
  watchers_.push_back(&watcher);
}

void SharedElement::unwatch(AnyChange& watcher) {
  runtime::Lock lock(mutex_);
  std::erase(watchers_, &watcher);
}

void SharedElement::tell_changed(runtime::Wakes& wakes) {
  for (AnyChange* watcher : watchers_) watcher->tell(*this, wakes);
}

// ---- what only the dead could bring ----------------------------------------------------------

ProcessDied SharedElement::died(const std::string& who_and_what) const {
  return ProcessDied(fmt::format("element '{}' of shared space '{}': {} has died", name(),
                                 mapping_->name(), who_and_what));
}

void SharedElement::refuse_orphan() const {
  if (const auto owner = mapping_->dead_owner()) throw died(*owner + ", which owned the space,");
}

/// Of a tuple that is not there; null when one may come.
std::exception_ptr SharedElement::why_none_comes() const {
  if (is_marked()) return std::make_exception_ptr(marked());
  if (const auto owner = mapping_->dead_owner())
    return std::make_exception_ptr(died(*owner + ", which owned the space,"));
  if (const std::string who = read_text(log_.element().lost_mover); !who.empty())
    return std::make_exception_ptr(died(who + ", the last that moved tuples into it,"));
  return nullptr;
}

/// Of room that is not there; null when some may come.
std::exception_ptr SharedElement::why_no_room_comes() const {
  if (const auto owner = mapping_->dead_owner())
    return std::make_exception_ptr(died(*owner + ", which owned the space,"));
  if (const std::string who = read_text(log_.element().lost_taker); !who.empty())
    return std::make_exception_ptr(died(who + ", the last that observed or axed its tuples,"));
  return nullptr;
}

Deleted SharedElement::deleted() const {
  return Deleted(fmt::format("element '{}' was deleted", name()));
}

std::string SharedElement::no_room() const {
  const SharedLog::Numbers it = log_.numbers();
  std::string text = fmt::format("element '{}': no room before the deadline, {} unobserved", name(),
                                 it.last - it.first);
  if (it.last - it.first < log_.element().delta) text += "; " + log_.why_no_room();
  return text;
}

std::string SharedElement::no_tuple(std::uint64_t number) const {
  return fmt::format("element '{}': no tuple {} before the deadline", name(), number);
}

}  // namespace pastset
