// SPDX-License-Identifier: Apache-2.0
// paths/run/run_plan.cpp — execution of a process's threads, and reports of their failures.
#include "paths/run/run_plan.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "base/usage_error.hpp"
#include "paths/run/process_hosts.hpp"
#include "paths/run/processes/threads_state.hpp"
#include "runtime/polling/moment.hpp"
#include "runtime/processes/process_end.hpp"

namespace paths {
namespace {

class PlanRun {
 public:
  PlanRun(std::shared_ptr<const Plan> plan, const WrapperKinds& kinds, const RunOptions& options,
          const std::function<void(Thread&)>& thread)
      : options_(options),
        thread_(thread),
        runtime_(ProcessHosts::runtime_options(*plan, options)),
        hosts_(runtime_, std::move(plan), kinds, options) {}

  std::vector<std::string> run() {
    const runtime::RunInProcess running;
    try {
      runtime_.run([this] {
        hosts_.start();
        hosts_.run([this](Host& host, std::uint32_t index) { run_thread(host, index); });
      });
      return hosts_.failures();
    } catch (const runtime::Deadlock& deadlock) {
      std::vector<std::string> failures = hosts_.failures();
      if (failures.empty()) throw;
      // The deadlock is listed last, because an earlier failure may be the cause of the deadlock.
      failures.emplace_back(deadlock.what());
      return failures;
    }
  }

  std::uint64_t events() const { return runtime_.events(); }

  std::vector<Host*> hosts() const {
    std::vector<Host*> all;
    for (const auto& host : hosts_.hosts()) all.push_back(host.get());
    return all;
  }

 private:
  void run_thread(Host& host, std::uint32_t index) {
    Thread& thread = keep(std::make_unique<Thread>(host.deployment(), index, options_.seed));
    struct AtEnd {
      Thread& thread;
      ~AtEnd() { thread.end(); }
    } at_end{thread};
    const std::unique_ptr<const Ended> ended = run_application(thread);
    if (ended) report(host, thread, *ended);
  }

  // Failures are handled in functions that are not inlined. The function in which a thread waits
  // then needs little stack. Very many threads may wait, and each of them should touch only one
  // page of its stack.

  struct Ended {
    std::string failure;
    // Failure of the round that ended the thread; nullopt if no round ended it. All contributors of
    // the round have received this failure, too.
    std::optional<TravelError> told = {};
  };

  [[gnu::noinline]] void report(Host& host, Thread& thread, const Ended& ended) {
    const std::string name = fmt::format("thread {}/{}", host.name(), thread.index());
    Connections& connections = host.deployment().connections();
    const std::string failure = connections.losses().complete(ended.failure);
    const std::string whose = fmt::format("{}: {}", name, failure);
    hosts_.add_failure(whose);
    connections.sender().note_failure(whose);
    if (ended.told)
      thread.fail(*ended.told);  // other rounds of the thread fail with the same error
    else
      thread.fail(fmt::format("{} failed: {}", name, failure));
  }

  /// Keeps a Thread object after the thread has ended, so that late use of a reference to the
  /// object is an error instead of a crash.
  Thread& keep(std::unique_ptr<Thread> thread) {
    runtime::Lock lock(mutex_);
    return *threads_.emplace_back(std::move(thread));
  }

  /// Calls the thread's function. Returns its failure; nullptr if it returned normally.
  std::unique_ptr<const Ended> run_application(Thread& thread) {
    std::unique_ptr<const Ended> ended = call_application(thread);
    if (runtime::forks_until_here() != forks_) end_fork(ended.get());
    return ended;
  }

  [[noreturn, gnu::noinline]] static void end_fork(const Ended* ended) {
    runtime::end_process(fmt::format(
        "{}: a process that it made by fork must end by _exit or exec{}",
        runtime::describe_current_context(), ended == nullptr ? "" : ": " + ended->failure));
  }

  std::unique_ptr<const Ended> call_application(Thread& thread) {
    const runtime::ApplicationCode inside;
    try {
      thread_(thread);
      return nullptr;
    } catch (const runtime::Stop&) {
      throw;
    } catch (...) {
      return ended_by_exception();
    }
  }

  /// Returns the failure that the current exception describes.
  /// Requires: an exception is being handled.
  [[gnu::noinline]] static std::unique_ptr<const Ended> ended_by_exception() {
    // pthread_exit() and pthread_cancel() unwind the stack by an exception without a type.
    if (abi::__cxa_current_exception_type() == nullptr)
      runtime::end_process(
          fmt::format("{}: pthread_exit or pthread_cancel; a thread ends by returning, and "
                      "fails by throwing",
                      runtime::describe_current_context()));
    try {
      throw;
    } catch (const TravelError& error) {
      return std::make_unique<const Ended>(Ended{error.what(), error});
    } catch (const base::UsageError& error) {
      return std::make_unique<const Ended>(Ended{error.mistake()});
    } catch (const std::bad_alloc&) {
      return std::make_unique<const Ended>(
          Ended{"no memory is left; see ulimit -v and the memory limit of the cgroup"});
    } catch (const std::exception& error) {
      return std::make_unique<const Ended>(Ended{error.what()});
    } catch (...) {
      return std::make_unique<const Ended>(
          Ended{"threw an exception that is not a std::exception"});
    }
  }

  const RunOptions& options_;
  const std::function<void(Thread&)>& thread_;
  runtime::Runtime runtime_;
  ProcessHosts hosts_;
  runtime::Mutex mutex_;
  std::vector<std::unique_ptr<Thread>> threads_;  // threads of the run, including ended ones
  const std::uint32_t forks_ = runtime::forks_until_here();
};

}  // namespace

std::vector<std::string> run_plan(std::shared_ptr<const Plan> plan, const WrapperKinds& kinds,
                                  const RunOptions& options,
                                  const std::function<void(Thread&)>& thread,
                                  const std::function<void(const RunSummary&)>& finish) {
  runtime::refuse_run_inside_run();
  const base::Nanos began = runtime::steady_now();
  PlanRun run(plan, kinds, options, thread);
  notify_launcher(ThreadsState::running);
  std::vector<std::string> failures = run.run();
  notify_launcher(ThreadsState::ended);
  if (failures.empty() && finish) {
    const double seconds = std::chrono::duration<double>(runtime::steady_now() - began).count();
    finish({*plan, options.clock, options.seed, seconds, run.events(), run.hosts()});
  }
  return failures;
}

}  // namespace paths
