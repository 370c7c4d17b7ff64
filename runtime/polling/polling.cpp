// SPDX-License-Identifier: Apache-2.0
// runtime/polling/polling.cpp — polling with pauses, then with yields, and learning from misses
#include "runtime/polling/polling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>

#include "base/errors.hpp"
#include "runtime/scheduler/context.hpp"
#include "runtime/usable_cores.hpp"

namespace runtime {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

// Duration of polling with pauses before the first yield, if another process changes the polled
// value. If only threads of this process change it, the duration is CoreContention::empty_yield().
constexpr Nanos pausing_for_processes{3'000};
// Duration of polling with yields: `yielding` plus `yielding_for_each` per known thread. It must
// exceed the duration of a round in which every thread has to be woken; otherwise polling would
// never succeed.
constexpr Nanos yielding{100'000}, yielding_for_each{8'000};
// Additional duration if messages arrive from other processes. It does not depend on the number of
// threads, because the number of threads of other processes is unknown.
constexpr Nanos yielding_for_processes{300'000};

// Number of polls without a yield after a message has arrived. Messages of several processes arrive
// close together, so the next message may arrive before a yield would end.
constexpr int looks_after_some = 40;

constexpr std::uint32_t misses_max = 2, skip_min = 4, skip_max = 64;

CoreContention& core_contention() {
  static CoreContention all(CoreContention::measure_empty_yield());
  return all;
}

}  // namespace

std::atomic<int> KnownThreads::known_{0};
std::atomic<int> KnownThreads::asleep_{0};

void pause_core() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

Nanos steady_now() { return std::chrono::steady_clock::now().time_since_epoch(); }

SpinHistory& SpinHistory::of(const Reason& reason) {
  static std::array<SpinHistory, 256> sites;  // reasons that hash to the same index share an entry
  const std::hash<const char*> hash;
  return sites[(hash(reason.what.data()) / 8 + hash(reason.subject.data()) / 32) % sites.size()];
}

bool SpinHistory::skips() {
  const std::uint32_t left = left_.load(relaxed);
  if (left == 0) return false;
  left_.store(left - 1, relaxed);
  return true;
}

void SpinHistory::note_hit() {
  if (misses_.load(relaxed) != 0) misses_.store(0, relaxed);
  if (const std::uint32_t skip = skip_next_.load(relaxed); skip != 0)
    skip_next_.store(skip / 2, relaxed);
}

void SpinHistory::note_miss(int threads) {
  const std::uint32_t misses = misses_.load(relaxed) + 1;
  misses_.store(misses, relaxed);
  if (misses < misses_max) return;
  const std::uint32_t skip = std::clamp(skip_next_.load(relaxed), skip_min, skip_max);
  left_.store(skip * static_cast<std::uint32_t>(threads), relaxed);
  skip_next_.store(2 * skip, relaxed);
}

Nanos CoreContention::measure_empty_yield() {
  constexpr int yields = 8;
  Nanos shortest = Nanos::max();
  for (int i = 0; i < yields; ++i) {
    const Nanos began = steady_now();
    sched_yield();
    shortest = std::min(shortest, steady_now() - began);
  }
  return std::clamp(2 * shortest, Nanos{1'000}, Nanos{5'000});
}

void CoreContention::note_yield(Nanos began, Nanos ended) {
  const bool let_run = ended - began > empty_yield_;
  if (let_run != share_our_cores()) share_our_cores_.store(let_run, relaxed);
  if (ended - began <= long_yield) return;
  const Nanos::rep until = rest_until_.load(relaxed);
  if (ended.count() < until) return;  // another thread has handled this long yield
  // Another program uses the core. If the previous rest (time without yields) ended only a short
  // time ago, the program has run all the time. The next rest is then twice as long.
  const Nanos::rep rest = rest_.load(relaxed);
  const bool again = rest != 0 && began.count() - until < rest;
  const Nanos::rep now = again ? std::min(2 * rest, longest_rest.count()) : first_rest.count();
  rest_.store(now, relaxed);
  rest_until_.store(ended.count() + now, relaxed);
}

void Pollers::add(Poller& poller) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    Poller* none = nullptr;
    if (!places_[i].poller.compare_exchange_strong(none, &poller)) continue;
    std::size_t used = used_.load();
    while (used <= i && !used_.compare_exchange_weak(used, i + 1)) {
    }
    return;
  }
}

void Pollers::remove(Poller& poller) {
  for (Place& place : places_) {
    Poller* expected = &poller;
    if (!place.poller.compare_exchange_strong(expected, nullptr)) continue;
    while (place.lookers.load() > 0) sched_yield();
  }
}

Pollers::Looking::Looking(Pollers* pollers) {
  const std::size_t used = pollers != nullptr ? pollers->used_.load(relaxed) : 0;
  for (std::size_t i = 0; i < used; ++i) {
    Place& place = pollers->places_[i];
    if (place.poller.load(relaxed) == nullptr) continue;
    place.lookers.fetch_add(1);  // either remove() sees this count, or the next line finds nullptr
    Poller* const poller = place.poller.load();
    if (poller != nullptr)
      looked_at_[count_++] = {poller, &place.lookers};
    else
      place.lookers.fetch_sub(1);
  }
  if (at_any()) at_each([](Poller& poller) { poller.begin_polling(); });
}

Pollers::Looking::~Looking() {
  if (!at_any()) return;
  at_each([](Poller& poller) { poller.end_polling(); });
  for (std::size_t i = 0; i < count_; ++i) looked_at_[i].lookers->fetch_sub(1);
}

bool Pollers::Looking::poll() {
  bool has_arrived = false;
  if (at_any()) at_each([&has_arrived](Poller& poller) { has_arrived |= poller.poll(); });
  return has_arrived;
}

/// Calls `act`, and ends the process if it throws, because a poller has no caller that could react.
template <class Act>
void Pollers::Looking::at_each(Act act) {
  Context* const self = Context::current();
  Context::set_current(nullptr);
  try {
    for (std::size_t i = 0; i < count_; ++i) act(*looked_at_[i].poller);
  } catch (const std::exception& error) {
    base::report_bug(__FILE__, __LINE__, fmt::format("a poller threw: {}", error.what()));
  } catch (const Stop& stop) {
    base::report_bug(__FILE__, __LINE__, fmt::format("a poller waited: {}", stop.what()));
  }
  Context::set_current(self);
}

bool poll(const std::atomic<std::uint32_t>& value, std::uint32_t seen, Nanos until,
          SpinHistory& history, const Looks& looks) {
  const auto changed = [&] { return value.load(std::memory_order_acquire) != seen; };
  if (changed()) return true;
  if (history.skips()) return false;
  Pollers::Looking* const attention = looks.context ? looks.context->attention() : nullptr;
  Pollers::Looking for_now(attention != nullptr ? nullptr : looks.pollers);
  Pollers::Looking& looking = attention != nullptr ? *attention : for_now;
  const int threads = KnownThreads::count();
  const Nanos began = steady_now();
  const Nanos budget = yielding + threads * yielding_for_each +
                       (looking.at_any() ? yielding_for_processes : Nanos::zero());
  const Nanos end = std::min(until, began + budget);
  Nanos now = began;
  bool has_arrived = false;
  const auto look = [&] {
    has_arrived = looking.poll();
    if (!changed()) return false;
    history.note_hit();
    return true;
  };
  const bool share_cores = looks.processes > usable_cores() || core_contention().share_our_cores();
  const bool yields_first = share_cores && core_contention().may_yield(began);
  const Nanos span = looking.at_any() || looks.processes > 0 ? pausing_for_processes
                                                             : core_contention().empty_yield();
  const Nanos paused = yields_first ? began : began + span;
  for (; KnownThreads::awake() <= usable_cores() && now < paused; now = steady_now()) {
    pause_core();
    if (look()) return true;
  }
  while (now < end && core_contention().may_yield(now)) {
    const Nanos before = now;
    sched_yield();
    now = steady_now();
    core_contention().note_yield(before, now);
    if (look()) return true;
    for (int left = has_arrived ? looks_after_some : 0; left > 0; --left) {
      pause_core();
      if (look()) return true;
      if (has_arrived) left = looks_after_some;
    }
  }
  if (now >= end) history.note_miss(threads);
  return false;
}

}  // namespace runtime
