// SPDX-License-Identifier: Apache-2.0
// paths/messages/lanes_clock.cpp — who does what is due, and hands over what then leaves.
#include <algorithm>
#include <atomic>
#include <utility>

#include "paths/messages/lanes.hpp"
#include "paths/plan/emulated_switches.hpp"
#include "runtime/scheduler/poller.hpp"

namespace paths {
namespace {

/// How often more is copied where there is room for it, before others get a turn.
constexpr int rounds_max = 16;

}  // namespace

/// Runs while something is due, in a service context.
class Lanes::Clock final : public runtime::Work {
 public:
  explicit Clock(Lanes& lanes) : lanes_(lanes) {}
  using Work::cancel;
  void begin() { lanes_.runtime_.begin({"lanes of", lanes_.name_}, *this); }

  // Guarded by the mutex of the lanes:
  bool is_running = false;
  base::Nanos sleeps_until = base::Nanos::min();
  runtime::WaitList earlier;  // for something due before

 private:
  void run() override { lanes_.run_clock(); }
  void ended(std::exception_ptr failure) override {
    bool again = false;
    {
      runtime::Wakes wakes;
      runtime::Lock lock(lanes_.mutex_);
      let_go();
      is_running = again = !failure && lanes_.needs_clock();
      if (!again) lanes_.quiet_.wake_all(wakes);
    }
    if (again) begin();
  }
  Lanes& lanes_;
};

/// Threads that wait do what is due, which nobody has to be woken for; while none does, the clock
/// runs. Either who puts something on the agenda sees who looks, or the last who looks sees it.
class Lanes::Lookers final : public runtime::Poller {
 public:
  explicit Lookers(Lanes& lanes) : lanes_(lanes) {}
  /// Nobody of them is in the lanes any more. Without the mutex of the lanes.
  void part() {
    if (are_known_) lanes_.runtime_.remove_poller(*this);
  }
  bool are_there() const { return count_.load() > 0; }

  // With the mutex of the lanes held:
  void know(const Agenda& agenda) {
    next_.store(agenda.empty() ? base::Nanos::max().count() : agenda.next().count());
    if (agenda.empty() || lanes_.is_stopped_ || lanes_.runtime_.is_virtual()) return;
    if (std::exchange(are_known_, true)) return;
    lanes_.runtime_.add_poller(*this);
  }

  void come() override { count_.fetch_add(1); }
  bool look() override {
    const base::Nanos::rep next = next_.load(std::memory_order_relaxed);
    if (next == base::Nanos::max().count() || next > lanes_.runtime_.now().count()) return false;
    runtime::Lock lock(lanes_.mutex_, std::try_to_lock);
    if (lock && !lanes_.is_stopped_) lanes_.do_what_is_due(lock, Turn::choices);
    return false;  // what was due tells of nothing else
  }
  void leave() override {
    if (count_.fetch_sub(1) > 1 || next_.load() == base::Nanos::max().count()) return;
    runtime::Lock lock(lanes_.mutex_);
    if (!lanes_.is_stopped_) lanes_.settle(lock);
  }

 private:
  Lanes& lanes_;
  bool are_known_ = false;
  std::atomic<int> count_{0};
  std::atomic<base::Nanos::rep> next_{base::Nanos::max().count()};  // of the agenda
};

Lanes::Lanes(runtime::Runtime& runtime, std::shared_ptr<const Plan> plan, std::uint32_t host,
             EmulatedLinks& links, LaneCarrier& carrier)
    : runtime_(runtime),
      plan_(std::move(plan)),
      host_(host),
      carrier_(carrier),
      name_(place_name(*plan_, host)),
      complaints_(name_),
      departures_(runtime, *plan_, host, links, agenda_),
      outgoing_(runtime, host, plan_->lanes.frame_bytes, departures_, agenda_),
      inbox_(plan_->lanes.inbox_bytes),
      clock_(std::make_unique<Clock>(*this)),
      lookers_(std::make_unique<Lookers>(*this)) {
  if (is_switch()) return;
  const HopLink network = receiving_link(*plan_, host_);
  if (network.is_there()) receiving_ = links.named(network.name, link_of(network).model);
}

Lanes::~Lanes() {
  self_.reset();
  stop();
}

/// One context at a time, so that what goes to a host stays in order; the mutex is let go, because
/// within one process this runs the other host's deliver(), which may answer.
void Lanes::settle(runtime::Lock& lock) {
  if (std::exchange(is_sending_, true)) return;
  for (int rounds = 0;;) {
    for (auto& wait : outgoing_.sent()) ended_.push_back(std::move(wait));
    outgoing_.sent().clear();
    settled_.leaving.swap(departures_.leaving());
    settled_.ended.swap(ended_);
    auto& [leaving, ended] = settled_;
    lookers_->know(agenda_);
    const bool begins = needs_clock() && !std::exchange(clock_->is_running, true);
    if (!begins && leaving.empty() && ended.empty()) {
      if (go_on(rounds)) continue;
      break;
    }
    for (const auto& [to, frame] : leaving) see_neighbour(to, frame.target);
    lock.unlock();
    if (begins) clock_->begin();
    for (auto& [to, frame] : leaving) carrier_.send(to, std::move(frame));
    {
      runtime::Wakes wakes;
      for (const auto& wait : ended) wait->completion.complete(wakes);
    }
    leaving.clear();
    ended.clear();
    if (runtime_.is_virtual()) settled_ = {};  // of very many hosts it would be much
    lock.lock();
  }
  is_sending_ = false;
  runtime::Wakes wakes;
  if (clock_next() < clock_->sleeps_until) clock_->earlier.wake_all(wakes);
  if (agenda_.empty()) quiet_.wake_all(wakes);
  if (end_.is_everywhere) ending_.wake_all(wakes);
  if (begin_.is_everywhere) beginning_.wake_all(wakes);
  if (wakes.empty()) return;
  lock.unlock();
}

/// With what waits until all before it was handed over. After a while whoever does what is due is
/// to go on, so that nobody keeps sending who came to receive.
bool Lanes::go_on(int& rounds) {
  if (!outgoing_.may_go_on() || is_put_off_) return false;
  if (++rounds <= rounds_max)
    return outgoing_.go_on([this](std::uint32_t to) { return carrier_.has_room(to); });
  rounds = 0;
  is_put_off_ = true;
  agenda_.put(runtime_.now(), [this] { is_put_off_ = false; });
  return true;
}

/// When the clock has something to do: who looks does what is on the agenda.
base::Nanos Lanes::clock_next() const {
  const bool has_work = !agenda_.empty() && !lookers_->are_there();
  return has_work ? std::min(agenda_.next(), asks_at_) : asks_at_;
}

bool Lanes::needs_clock() const { return !is_stopped_ && clock_next() != base::Nanos::max(); }

void Lanes::run_clock() {
  runtime::Lock lock(mutex_);
  // On the virtual clock whoever waits until now goes on when everybody else has had his turn.
  auto turn = runtime_.is_virtual() ? Turn::events : Turn::choices;
  base::Nanos turn_at = runtime_.now();
  while (needs_clock()) {
    const base::Nanos now = runtime_.now();
    if (runtime_.is_virtual() && std::exchange(turn_at, now) != now) turn = Turn::events;
    const base::Nanos next = clock_next();
    if (next > now || (runtime_.is_virtual() && agenda_.next_turn() > turn)) {
      clock_->sleeps_until = next;
      const runtime::Woken woken =
          clock_->earlier.wait(lock, runtime::Deadline::written_at(std::max(next, now)),
                               {"what is on its way from", name_, host_});
      clock_->sleeps_until = base::Nanos::min();
      if (woken == runtime::Woken::expired && runtime_.now() == now && turn < Turn::choices)
        turn = static_cast<Turn>(static_cast<int>(turn) + 1);
      continue;
    }
    if (asks_at_ <= now) ask_for_all();
    do_what_is_due(lock, turn);
    if (!lock.owns_lock()) lock.lock();
  }
}

void Lanes::do_what_is_due(runtime::Lock& lock, Turn turn) {
  const base::Nanos now = runtime_.now();
  const auto is_due = [&] {
    return !agenda_.empty() && agenda_.next() <= now && agenda_.next_turn() <= turn;
  };
  while (is_due()) agenda_.take()();
  settle(lock);
}

void Lanes::stop() {
  runtime::Lock lock(mutex_);
  is_stopped_ = true;
  agenda_.clear();
  if (clock_->is_running) clock_->cancel();
  lock.unlock();
  lookers_->part();
  lock.lock();
  // On the virtual clock contexts end with the run.
  while (clock_->is_running && (!runtime_.is_virtual() || runtime::is_inside_a_run()))
    quiet_.wait(lock, runtime::Deadline::never(), {"the end of the clock of", name_, host_});
}

}  // namespace paths
