// SPDX-License-Identifier: Apache-2.0
// paths/run/session.cpp — attachment of program threads, and the end of a session.
#include "paths/run/session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "base/near_match.hpp"
#include "base/usage_error.hpp"
#include "paths/plan/identity.hpp"
#include "paths/run/process_hosts.hpp"
#include "paths/run/processes/threads_state.hpp"
#include "runtime/processes/process_end.hpp"

namespace paths {

/// Thread of the plan, and the program thread attached to it. Guarded by the session's mutex.
struct Attached::Seat {
  std::string name;  // name for messages, such as "thread alpha-0/3"
  Host* host = nullptr;
  std::uint32_t index = 0;
  std::uint64_t takings = 0;                         // number of attachments so far
  std::unique_ptr<Thread> thread;                    // only the attached thread uses it
  std::unique_ptr<runtime::ThreadAttachment> visit;  // nullptr if no program thread is attached

  bool is_taken() const { return visit != nullptr; }
  void free() {
    thread->owner_.leave();
    visit.reset();
  }
  /// Detaches the program thread if it has ended without detaching itself.
  void look() {
    if (is_taken() && visit->has_thread_ended()) free();
  }
};

namespace {

runtime::RuntimeOptions runtime_options(const Plan& plan, const RunOptions& options) {
  if (options.clock == runtime::ClockKind::virtual_time)
    throw base::UsageError(
        "a session has threads that the virtual clock cannot stop: it needs the steady one; a "
        "program for both clocks is a function of a thread, for run_plan");
  runtime::RuntimeOptions all = ProcessHosts::runtime_options(plan, options);
  all.says_overflows = false;
  return all;
}

void refuse_inside_a_run(std::string_view what) {
  if (runtime::is_inside_a_run())
    throw base::UsageError(
        fmt::format("{} by a thread that is attached or of a run already", what));
}

/// Returns `options`, completed from the environment variables that the launcher has set.
RunOptions as_launched(RunOptions options) {
  if (environment_variable("PATHS_CLOCK") == "virtual")
    throw base::UsageError(
        "a session on the virtual clock, as PATHS_CLOCK says: its threads live on the steady one");
  // take_run_key() removes PATHS_RUN_KEY from the environment even if `options` has a key already.
  if (auto run_key = take_run_key(); options.run_key == nullptr)
    options.run_key = std::move(run_key);
  if (const std::string trace = environment_variable("PATHS_TRACE");
      options.trace.directory.empty() && !trace.empty())
    options.trace.directory = trace;
  return options;
}

}  // namespace

class Attached::State {
 public:
  State(std::shared_ptr<const Plan> plan, const WrapperKinds& kinds, const RunOptions& options)
      : plan_(std::move(plan)),
        options_(options),
        runtime_(runtime_options(*plan_, options)),
        hosts_(runtime_, plan_, kinds, options) {}

  void start();
  Seat& attach(std::string_view host, std::uint32_t index);
  /// Detaches the calling thread.
  /// Throws: UsageError if the thread must not detach now.
  void detach(Seat& seat, std::uint64_t taking);
  /// Detaches the attached thread: now if it is the calling thread, otherwise when the attached
  /// thread ends. Any thread may call this function. Reports no error.
  void drop(Seat& seat, std::uint64_t taking) noexcept;
  /// Begins the end of the session. The caller must then call finish().
  /// Throws: UsageError if a thread is attached, or if the session has ended.
  void begin_end();
  std::vector<std::string> finish();
  /// Ends the session now, or when the last attached thread detaches.
  void abandon() noexcept;
  /// Returns whether this process created the session. A process forked from this process has a
  /// copy of the session's memory, but not the session's threads.
  bool is_of_this_process() const { return forks_ == runtime::forks_until_here(); }

 private:
  Seat& find(std::string_view host, std::uint32_t index);
  void refuse_here(std::string_view what) const;
  void finish_unobserved(runtime::Lock& lock) noexcept;
  std::vector<std::string> taken();
  void end_thread(Host& host, std::uint32_t index);

  const std::shared_ptr<const Plan> plan_;
  const RunOptions options_;
  const std::uint32_t forks_ = runtime::forks_until_here();
  runtime::Runtime runtime_;
  ProcessHosts hosts_;
  runtime::Mutex mutex_;
  std::vector<std::vector<Seat>> seats_;  // indexed by host of this process, then by thread
  bool is_over_ = false;
  bool is_abandoned_ = false;
};

/// Throws: UsageError if the calling process was made by fork, or if the caller is inside a run.
///         Such a caller must neither attach to the session nor end the session.
void Attached::State::refuse_here(std::string_view what) const {
  if (!is_of_this_process())
    throw base::UsageError(fmt::format("{} in a process that was made by fork", what));
  refuse_inside_a_run(what);
}

void Attached::State::start() {
  const runtime::ThreadAttachment visit(runtime_, {"begin of a session"});
  runtime_.open();
  try {
    hosts_.start();
  } catch (...) {
    runtime_.close();
    throw;
  }
  for (const auto& host : hosts_.hosts()) {
    std::vector<Seat>& seats = seats_.emplace_back(plan_->hosts[host->index()].threads);
    for (std::uint32_t i = 0; i < seats.size(); ++i) {
      seats[i].name = fmt::format("thread {}/{}", host->name(), i);
      seats[i].host = host.get();
      seats[i].index = i;
    }
  }
}

Attached::Seat& Attached::State::find(std::string_view host, std::uint32_t index) {
  for (std::vector<Seat>& seats : seats_) {
    if (!seats.empty() && seats[0].host->name() != host) continue;
    if (index < seats.size()) return seats[index];
  }
  const std::string what = fmt::format("attach to thread {}/{}", host, index);
  const auto number = plan_->host_named(host);
  if (!number) {
    std::vector<std::string_view> names;
    for (const auto& one : plan_->hosts) names.push_back(one.name);
    const auto near = base::near_match(host, names);
    throw base::UsageError(fmt::format("{}, of a host that the plan does not have{}", what,
                                       near ? fmt::format("; did you mean '{}'?", *near) : ""));
  }
  if (options_.is_one_host && *number != options_.host)
    throw base::UsageError(fmt::format("{}, of another process: this one is host {}", what,
                                       plan_->hosts[options_.host].name));
  throw base::UsageError(fmt::format("{}: the host has {} threads, counted from 0", what,
                                     plan_->hosts[*number].threads));
}

Attached::Seat& Attached::State::attach(std::string_view host, std::uint32_t index) {
  Seat& seat = find(host, index);
  refuse_here("attach to " + seat.name);
  runtime::Lock lock(mutex_);
  seat.look();
  const auto refuse = [&](std::string_view why) {
    throw base::UsageError(fmt::format("attach to {}{}", seat.name, why));
  };
  if (is_over_) refuse(" of a session that has ended");
  if (seat.is_taken()) refuse(", which another thread is");
  if (seat.thread && seat.thread->is_over()) refuse(", which has released its paths");
  auto visit = std::make_unique<runtime::ThreadAttachment>(
      runtime_, runtime::ContextName{"thread", seat.host->name(), seat.index});
  if (seat.thread)
    seat.thread->owner_.take();
  else
    seat.thread = std::make_unique<Thread>(seat.host->deployment(), seat.index, options_.seed);
  seat.visit = std::move(visit);
  ++seat.takings;
  return seat;
}

void Attached::State::detach(Seat& seat, std::uint64_t taking) {
  if (!is_of_this_process())
    throw base::UsageError(seat.name + ": detach in a process that was made by fork");
  runtime::Lock lock(mutex_);
  if (seat.takings != taking || !seat.is_taken() || !seat.visit->is_of_caller())
    throw base::UsageError(fmt::format("{}: detach by {}: it is that thread's alone", seat.name,
                                       runtime::describe_current_context()));
  seat.thread->check_leaves();
  seat.free();
  finish_unobserved(lock);
}

void Attached::State::drop(Seat& seat, std::uint64_t taking) noexcept {
  runtime::Lock lock(mutex_);
  seat.look();
  if (seat.takings != taking || !seat.is_taken()) return finish_unobserved(lock);
  if (!seat.visit->is_of_caller())
    return spdlog::warn("{}: dropped by {}: it stays attached until its own thread ends", seat.name,
                        runtime::describe_current_context());
  lock.unlock();
  for (Path& path : seat.thread->paths_) path.operations().wait_for_started();
  lock.lock();
  seat.free();
  finish_unobserved(lock);
}

/// Ends an abandoned session if no thread is attached. Logs the failures, because no caller
/// receives them. Unlocks `lock` if the session ends.
/// Requires: `lock` held.
void Attached::State::finish_unobserved(runtime::Lock& lock) noexcept {
  if (!is_abandoned_ || is_over_ || !taken().empty()) return;
  is_over_ = true;
  lock.unlock();
  const auto end = [this] {
    try {
      for (const std::string& failure : finish()) spdlog::warn("{}", failure);
    } catch (const std::exception& error) {
      spdlog::warn("the end of a session: {}", error.what());
    }
  };
  if (!runtime::is_inside_a_run()) return end();
  try {
    runtime::do_outside_of_runs(end);  // the calling thread is attached to a different session
  } catch (const std::system_error& error) {
    spdlog::warn("the end of a session: no thread for it: {}", error.what());
  }
}

/// Returns the names of the plan's threads to which a live program thread is attached.
/// Requires: mutex_ held.
std::vector<std::string> Attached::State::taken() {
  std::vector<std::string> names;
  for (std::vector<Seat>& seats : seats_)
    for (Seat& seat : seats) {
      seat.look();
      if (seat.is_taken()) names.push_back(seat.name);
    }
  return names;
}

void Attached::State::begin_end() {
  refuse_here("the end of a session");
  runtime::Lock lock(mutex_);
  if (is_over_) throw base::UsageError("the end of a session that has ended");
  const std::vector<std::string> attached = taken();
  if (!attached.empty())
    throw base::UsageError(
        fmt::format("the end of a session with attached threads: {}", fmt::join(attached, ", ")));
  is_over_ = true;
}

void Attached::State::abandon() noexcept {
  runtime::Lock lock(mutex_);
  is_abandoned_ = true;
  if (is_over_) return;
  const std::vector<std::string> attached = taken();
  if (attached.empty()) return finish_unobserved(lock);
  spdlog::warn("a session was dropped while threads are attached, and ends when they detach: {}",
               fmt::join(attached, ", "));
}

std::vector<std::string> Attached::State::finish() {
  const runtime::ThreadAttachment visit(runtime_, {"end of a session"});
  struct AtEnd {
    runtime::Runtime& runtime;
    ~AtEnd() { runtime.close(); }
  } const at_end{runtime_};
  hosts_.run([this](Host& host, std::uint32_t index) { end_thread(host, index); });
  notify_launcher(ThreadsState::ended);
  std::vector<std::string> failures = hosts_.failures();
  if (failures.empty() && options_.is_one_host)
    for (const auto& host : hosts_.hosts())
      if (std::string failure = failed_elsewhere(*host); !failure.empty())
        failures.push_back(std::move(failure));
  return failures;
}

/// Ends a thread of the plan.
/// Requires: the calling context (OS thread or fiber) ends only this thread, because the release of
///           the thread's paths may wait for other threads.
void Attached::State::end_thread(Host& host, std::uint32_t index) {
  Seat& seat = find(host.name(), index);
  if (!seat.thread)
    seat.thread = std::make_unique<Thread>(host.deployment(), index, options_.seed);
  else if (!seat.thread->is_over())
    seat.thread->owner_.take();
  seat.thread->end();
}

// ---- attachments ---------------------------------------------------------------------------

Attached::Attached(std::shared_ptr<State> state, Seat& seat)
    : state_(std::move(state)), seat_(&seat), taking_(seat.takings) {}

Attached::Attached(Attached&& other) noexcept
    : state_(std::move(other.state_)),
      seat_(std::exchange(other.seat_, nullptr)),
      taking_(other.taking_) {}

Attached& Attached::operator=(Attached&& other) noexcept {
  std::swap(state_, other.state_);
  std::swap(seat_, other.seat_);
  std::swap(taking_, other.taking_);
  return *this;
}

Attached::~Attached() {
  if (seat_ == nullptr) return;
  if (state_->is_of_this_process())
    state_->drop(*seat_, taking_);
  else
    runtime::keep_for_ever(std::move(state_));
}

Thread& Attached::thread() const {
  if (seat_ == nullptr) throw base::UsageError("use of a thread that has detached");
  return *seat_->thread;
}

void Attached::detach() {
  if (seat_ == nullptr)
    throw base::UsageError("detach of a thread that has detached, or was moved elsewhere");
  state_->detach(*seat_, taking_);
  seat_ = nullptr;
  state_ = nullptr;
}

// ---- sessions ------------------------------------------------------------------------------

Session::Session(std::shared_ptr<const Plan> plan, const WrapperKinds& kinds,
                 const RunOptions& options) {
  refuse_inside_a_run("a session begun");
  if (options.is_one_host && options.host >= plan->hosts.size())
    throw base::UsageError(fmt::format("a session as host number {}, counted from 0, of {}",
                                       options.host, plan->hosts.size()));
  runtime::count_forks();
  state_ = std::make_shared<Attached::State>(std::move(plan), kinds, as_launched(options));
  state_->start();
  notify_launcher(ThreadsState::running);
}

Session::~Session() {
  if (state_->is_of_this_process())
    state_->abandon();
  else
    runtime::keep_for_ever(std::move(state_));
}

Attached Session::attach(std::string_view host, std::uint32_t index) {
  return {state_, state_->attach(host, index)};
}

std::vector<std::string> Session::end() {
  state_->begin_end();
  return state_->finish();
}

}  // namespace paths
