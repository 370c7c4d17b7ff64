// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/watchdog.cpp — a timer signal that checks the progress of a run
#include "runtime/scheduler/watchdog.hpp"

#include <execinfo.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <utility>

#include "runtime/polling/moment.hpp"
#include "runtime/processes/signal_line.hpp"
#include "runtime/scheduler/clock.hpp"
#include "runtime/scheduler/live_contexts.hpp"

namespace runtime {
namespace {

std::atomic<base::Nanos::rep> patience{0};
thread_local Watchdog* watching = nullptr;

int signal_number() { return SIGRTMIN + 7; }

void on_timer(int, siginfo_t*, void*) {
  const int error_before = errno;
  if (watching != nullptr) watching->look();
  errno = error_before;
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction ours {};
    ours.sa_sigaction = on_timer;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigaction(signal_number(), &ours, nullptr);
    void* first = nullptr;
    // This call loads the library of backtrace(), which a signal handler must not do.
    backtrace(&first, 1);
  });
}

base::Nanos time_of(clockid_t clock) {
  timespec shown{};
  clock_gettime(clock, &shown);
  return std::chrono::seconds(shown.tv_sec) + base::Nanos(shown.tv_nsec);
}

}  // namespace

void watch_virtual_runs(base::Nanos span) {
#ifndef PATHS_TSAN
  patience.store(span.count());
#else
  (void)span;
#endif
}

Watchdog::Watchdog(const Clock& clock, const LiveContexts& contexts)
    : clock_(clock),
      contexts_(contexts),
      patience_(patience.load()),
      outer_(std::exchange(watching, this)) {
  if (patience_ == base::Nanos::zero()) return;
  install_handler();
  before_ = progress();
  began_ = before_.real_time;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal_number();
  event._sigev_un._tid = gettid();
  has_timer_ = timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
  const itimerspec times{timespec_of(patience_), timespec_of(patience_)};
  if (has_timer_) timer_settime(timer_, 0, &times, nullptr);
}

Watchdog::~Watchdog() {
  if (has_timer_) timer_delete(timer_);
  watching = outer_;
}

Watchdog::Progress Watchdog::progress() const {
  return {clock_.now(), clock_.events(), time_of(CLOCK_THREAD_CPUTIME_ID),
          time_of(CLOCK_MONOTONIC)};
}

void Watchdog::look() {
  if (!has_timer_) return;  // the signal comes from the timer of the enclosing run
  constexpr std::uint64_t looks_before_a_long_run = 6;
  const Progress now = progress();
  const bool is_long = ++looks_ % looks_before_a_long_run == 0;
  if (is_long || now.virtual_time == before_.virtual_time) report(now);
  before_ = now;
}

void Watchdog::report(const Progress& now) const {
  const base::Nanos used = now.processor_time - before_.processor_time;
  SignalLine head;
  head.add("watchdog: for ").add(now.real_time - before_.real_time).add(" of real time, ");
  if (now.virtual_time != before_.virtual_time)
    head.add("virtual time passed without an end of the run");
  else if (now.events != before_.events)
    head.add("contexts ran while virtual time stood still");
  else if (used > patience_ / 50)
    head.add("one context computed without a wait");
  else
    head.add("the OS thread slept in the kernel, or had no processor");
  head.add(": contexts ran ").add(now.events - before_.events);
  head.add(" times, with ").add(used).add(" of processor time; virtual time is ");
  head.add(now.virtual_time).add(", real time of the run ").add(now.real_time - began_).add("\n");
  head.write_to(STDERR_FILENO);
  contexts_.write(STDERR_FILENO);
  SignalLine().add("  the stack of the OS thread:\n").write_to(STDERR_FILENO);
  void* frames[64];
  backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
}

}  // namespace runtime
