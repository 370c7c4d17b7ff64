// SPDX-License-Identifier: Apache-2.0
// paths/messages/message_clock.cpp — due work, done by the service context or by polling threads
#include "paths/messages/message_clock.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "runtime/polling/poller.hpp"

namespace paths {
namespace {

/// Maximum number of calls of go_on() in a row by settle(). The remaining frames are sent later, so
/// that the endpoint does other work first.
constexpr int rounds_max = 16;

}  // namespace

/// The service context of the endpoint: a fiber that runs while there is work.
class MessageClock::Service final : public runtime::Work {
 public:
  explicit Service(MessageClock& clock) : clock_(clock) {}
  using Work::cancel;
  void begin() { clock_.state_.runtime.begin({"lanes of", clock_.state_.name}, *this); }

  // The mutex of the endpoint guards the following three members.
  bool is_running = false;
  base::Nanos sleeps_until = base::Nanos::min();
  runtime::WaitList earlier;  // notified if new work is due before sleeps_until

 private:
  void run() override { clock_.run(); }
  void ended(std::exception_ptr failure) override {
    bool again = false;
    {
      runtime::DeferredWakes wakes;
      runtime::Lock lock(clock_.state_.mutex);
      let_go();
      is_running = again = !failure && clock_.is_needed();
      if (!again) clock_.quiet_.wake_all(wakes);
    }
    if (again) begin();
  }
  MessageClock& clock_;
};

/// Lets polling threads do due work, so that the service context need not wake up for this work.
/// While no thread polls, the service context does the work. No work is missed: either the thread
/// or fiber that adds work sees that threads poll, or the last polling thread sees the work when it
/// ends polling.
class MessageClock::Lookers final : public runtime::Poller {
 public:
  explicit Lookers(MessageClock& clock) : clock_(clock) {}
  /// Blocks until no thread polls this object any more.
  /// Requires: the mutex of the endpoint is not held.
  void part() {
    if (are_known_) clock_.state_.runtime.remove_poller(*this);
  }
  bool are_there() const { return count_.load() > 0; }

  // Notes the time of the next due work. If there is work, also registers this object with the
  // runtime, unless it is registered already.
  // Requires: the mutex of the endpoint is held.
  void know(const DueQueue& due_queue) {
    next_.store(due_queue.empty() ? base::Nanos::max().count() : due_queue.next().count());
    if (due_queue.empty() || clock_.is_stopped_) return;
    if (std::exchange(are_known_, true)) return;
    clock_.state_.runtime.add_poller(*this);
  }

  void begin_polling() override { count_.fetch_add(1); }
  bool poll() override {
    const base::Nanos::rep next = next_.load(std::memory_order_relaxed);
    if (next == base::Nanos::max().count() || next > clock_.state_.runtime.now().count())
      return false;
    runtime::Lock lock(clock_.state_.mutex, std::try_to_lock);
    if (lock && !clock_.is_stopped_) clock_.do_what_is_due(lock, Turn::choices);
    return false;  // no message was received, because due work is not a message
  }
  void end_polling() override {
    if (count_.fetch_sub(1) > 1 || next_.load() == base::Nanos::max().count()) return;
    runtime::Lock lock(clock_.state_.mutex);
    if (!clock_.is_stopped_) clock_.settle(lock);
  }

 private:
  MessageClock& clock_;
  bool are_known_ = false;
  std::atomic<int> count_{0};
  // Time in nanoseconds at which the next queued work is due; the maximum if no work is queued.
  std::atomic<base::Nanos::rep> next_{base::Nanos::max().count()};
};

MessageClock::MessageClock(const Parts& parts)
    : parts_(parts),
      state_(parts.state),
      service_(std::make_unique<Service>(*this)),
      lookers_(std::make_unique<Lookers>(*this)) {}

MessageClock::~MessageClock() = default;

void MessageClock::settle(runtime::Lock& lock) {
  if (std::exchange(is_sending_, true)) return;
  for (int rounds = 0;;) {
    for (auto& wait : parts_.outgoing.sent()) state_.ended.push_back(std::move(wait));
    parts_.outgoing.sent().clear();
    settled_.leaving.swap(state_.link_scheduler.leaving());
    settled_.ended.swap(state_.ended);
    auto& [leaving, ended] = settled_;
    lookers_->know(state_.due_queue);
    const bool begins = is_needed() && !std::exchange(service_->is_running, true);
    if (!begins && leaving.empty() && ended.empty()) {
      if (go_on(rounds)) continue;
      break;
    }
    for (const auto& [to, frame] : leaving) parts_.membership.note_neighbour(to, frame.target);
    lock.unlock();
    if (begins) service_->begin();
    for (auto& [to, frame] : leaving) state_.carrier.send(to, std::move(frame));
    {
      runtime::DeferredWakes wakes;
      for (const auto& wait : ended) wait->completion.complete(wakes);
    }
    leaving.clear();
    ended.clear();
    // Frees the memory on the virtual clock, because simulations have very many hosts.
    if (state_.runtime.is_virtual()) settled_ = {};
    lock.lock();
  }
  is_sending_ = false;
  runtime::DeferredWakes wakes;
  if (next_due() < service_->sleeps_until) service_->earlier.wake_all(wakes);
  if (state_.is_quiet()) quiet_.wake_all(wakes);
  parts_.ends.wake(wakes);
  parts_.arrivals.wake(wakes);
  if (wakes.empty()) return;
  lock.unlock();
}

/// Takes further frames from full outlets (queues of frames) for which the carrier has room.
/// Returns true if settle() must call this function again. settle() calls it when the carrier has
/// received all earlier frames. `rounds` counts the calls in a row. After `rounds_max` calls in a
/// row, the function takes no frames, and puts the rest of the sending into the due queue.
/// Why: without this limit, a thread or fiber that must receive frames would send for too long.
bool MessageClock::go_on(int& rounds) {
  if (!parts_.outgoing.may_go_on() || is_put_off_) return false;
  if (++rounds <= rounds_max)
    return parts_.outgoing.go_on([this](std::uint32_t to) { return state_.carrier.has_room(to); });
  rounds = 0;
  is_put_off_ = true;
  state_.due_queue.put(state_.runtime.now(), [this] { is_put_off_ = false; });
  return true;
}

/// Returns the time at which the service context must do its next work. While threads of the host
/// poll, ignores the work in the due queue, because these threads do this work.
base::Nanos MessageClock::next_due() const {
  const bool has_work = !state_.due_queue.empty() && !lookers_->are_there();
  return has_work ? std::min(state_.due_queue.next(), parts_.credit.asks_at())
                  : parts_.credit.asks_at();
}

bool MessageClock::is_needed() const { return !is_stopped_ && next_due() != base::Nanos::max(); }

void MessageClock::run() {
  runtime::Lock lock(state_.mutex);
  // Latest kind of work that may be done now. On the virtual clock, a wait until the current time
  // ends after all other fibers have run. After such a wait, work of the next kind may be done.
  Turn turn = state_.due_queue.first_turn();
  base::Nanos turn_at = state_.runtime.now();
  while (is_needed()) {
    const base::Nanos now = state_.runtime.now();
    if (std::exchange(turn_at, now) != now) turn = state_.due_queue.first_turn();
    const base::Nanos next = next_due();
    if (next > now || state_.due_queue.is_later_than(turn)) {
      service_->sleeps_until = next;
      const runtime::Woken woken =
          service_->earlier.wait(lock, runtime::Deadline::written_at(std::max(next, now)),
                                 {"messages under way from", state_.name, state_.host});
      service_->sleeps_until = base::Nanos::min();
      if (woken == runtime::Woken::expired && state_.runtime.now() == now && turn < Turn::choices)
        turn = static_cast<Turn>(static_cast<int>(turn) + 1);
      continue;
    }
    if (parts_.credit.asks_at() <= now) parts_.credit.ask_for_all();
    do_what_is_due(lock, turn);
    if (!lock.owns_lock()) lock.lock();
  }
}

void MessageClock::do_what_is_due(runtime::Lock& lock, Turn turn) {
  const base::Nanos now = state_.runtime.now();
  const auto is_due = [&] {
    return !state_.due_queue.empty() && state_.due_queue.next() <= now &&
           !state_.due_queue.is_later_than(turn);
  };
  while (is_due()) state_.due_queue.take()();
  settle(lock);
}

bool MessageClock::drain(runtime::Lock& lock, runtime::Deadline limit) {
  while (!state_.is_quiet() || is_sending_)
    if (quiet_.wait(lock, limit, {"messages under way from", state_.name, state_.host}) ==
        runtime::Woken::expired)
      return false;
  return true;
}

void MessageClock::stop() {
  runtime::Lock lock(state_.mutex);
  is_stopped_ = true;
  state_.due_queue.clear();
  if (state_.processor) state_.processor->stop();
  if (service_->is_running) service_->cancel();
  lock.unlock();
  lookers_->part();
  lock.lock();
  // Waits until the service context has ended. If contexts are not parallel, none runs after the
  // end of the run, so no wait is needed then.
  while (service_->is_running && (state_.runtime.is_parallel() || runtime::is_inside_a_run()))
    quiet_.wait(lock, runtime::Deadline::never(),
                {"the end of the clock of", state_.name, state_.host});
}

}  // namespace paths
