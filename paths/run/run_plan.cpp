// SPDX-License-Identifier: Apache-2.0
// paths/run/run_plan.cpp — makes the hosts of a process, runs their threads, and ends them.
#include <cxxabi.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>

#include "base/errors.hpp"
#include "base/usage_error.hpp"
#include "paths/host/peers_of.hpp"
#include "paths/run/launch.hpp"
#include "paths/run/program.hpp"
#include "paths/wire/transport_local.hpp"
#include "paths/wire/transport_zmq.hpp"
#include "runtime/process_end.hpp"

namespace paths {
namespace {

/// Records when a thread began, at once, and when it ended.
class Life {
 public:
  Life(Host& host, std::uint32_t index) : host_(host) {
    record_.place = host.plan().hosts[host.index()].first_thread + index;
    record_.kind = static_cast<std::uint8_t>(eventspace::EventKind::thread);
    record_.down_nanos = host.runtime().now().count();
    add();
  }
  ~Life() { add(); }
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

 private:
  void add() {
    record_.up_nanos = host_.runtime().now().count();
    host_.recorder().add(record_);
  }
  Host& host_;
  eventspace::EventRecord record_;
};

/// How large a thread's stack is where nobody says it: very many of the usual size would not fit
/// into the address space, nor their page tables into memory.
std::size_t usual_stack_bytes(std::uint64_t threads) {
  constexpr std::size_t small_bytes = std::size_t{256} << 10;
  if (threads <= runtime::guarded_fibers_max) return runtime::thread_stack_bytes;
  spdlog::warn(
      "{} threads: each has a stack of {} in place of {}; option --stack, config key `stack`",
      threads, base::format_bytes(small_bytes), base::format_bytes(runtime::thread_stack_bytes));
  return small_bytes;
}

std::size_t stack_bytes_of(const Plan& plan, const RunOptions& options) {
  if (options.stack_bytes != 0) return options.stack_bytes;
  if (plan.stack_bytes != 0) return plan.stack_bytes;
  return usual_stack_bytes(options.is_one_host ? plan.hosts[options.host].threads
                                               : plan.thread_count());
}

class PlanRun {
 public:
  PlanRun(std::shared_ptr<const Plan> plan, const WrapperKinds& kinds, const RunOptions& options,
          const std::function<void(Thread&)>& thread)
      : plan_(std::move(plan)),
        kinds_(kinds),
        options_(options),
        thread_(thread),
        runtime_({.clock = options.clock,
                  .stack_bytes = stack_bytes_of(*plan_, options),
                  .waiting = plan_->waiting}),
        network_(plan_->hosts.size()) {}

  void run() {
    const runtime::RunInProcess running;
    try {
      runtime_.run([this] { run_hosts(); });
    } catch (const runtime::Deadlock& deadlock) {
      if (failures.empty()) throw;
      failures.emplace_back(deadlock.what());  // what failed before may be why
    }
  }

  std::vector<std::string> failures;
  std::vector<Host*> hosts() const {
    std::vector<Host*> all;
    for (const auto& host : hosts_) all.push_back(host.get());
    return all;
  }

 private:
  void make_hosts() {
    if (!options_.trace.directory.empty())
      tracing_ = std::make_unique<Tracing>(runtime_, *plan_, kinds_, options_.seed, options_.trace);
    const auto peers = peers_of(*plan_);
    for (std::uint32_t index = 0; index < plan_->hosts.size(); ++index) {
      if (options_.is_one_host && index != options_.host) continue;
      auto transport = options_.is_one_host ? make_zmq_transport(runtime_, peers, index)
                                            : network_.transport(index);
      hosts_.push_back(
          std::make_unique<Host>(runtime_, plan_, index, kinds_, std::move(transport), peers));
      if (tracing_) tracing_->add(*hosts_.back());
    }
  }

  void run_hosts() {
    make_hosts();
    for (auto& host : hosts_) host->start();
    if (tracing_) tracing_->start();
    // As processes would: each host ends when its own threads have.
    std::vector<runtime::Task> running;
    for (auto& host : hosts_) running.push_back(run_host(*host));
    for (auto& host : running) host.join();
    if (tracing_) warn_of(tracing_->finish());
  }

  /// No failures: what a trace lacks takes nobody the result of a run that succeeded.
  static void warn_of(const std::vector<std::string>& lacks) {
    constexpr std::size_t shown_max = 5;
    for (std::size_t i = 0; i < std::min(lacks.size(), shown_max); ++i)
      spdlog::warn("{}", lacks[i]);
    if (lacks.size() > shown_max)
      spdlog::warn("and the traces of {} more hosts lack records", lacks.size() - shown_max);
  }

  runtime::Task run_host(Host& host) {
    std::vector<runtime::Task> threads;
    for (std::uint32_t i = 0; i < plan_->hosts[host.index()].threads; ++i)
      threads.push_back(spawn_thread(host, i));
    return runtime_.spawn(runtime::ContextRole::service, {"end of", host.name(), host.index()},
                          [this, &host, threads = std::move(threads)]() mutable {
                            for (auto& thread : threads) thread.join();
                            std::string wrong = host.finish();
                            if (wrong.empty() && options_.is_one_host && threads.empty())
                              wrong = failed_elsewhere(host);  // nobody else says it here
                            add_failure(std::move(wrong));
                          });
  }

  runtime::Task spawn_thread(Host& host, std::uint32_t index) {
    try {
      return runtime_.spawn(runtime::ContextRole::thread, {"thread", host.name(), index},
                            [this, &host, index] { run_thread(host, index); });
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("host {}: number {} of {} threads cannot begin: {}",
                                           host.name(), index + 1,
                                           plan_->hosts[host.index()].threads, error.what()));
    }
  }

  static std::string failed_elsewhere(const Host& host) {
    const std::string failure = host.wiring().first_failure();
    return failure.empty() ? failure : fmt::format("host {}: {}", host.name(), failure);
  }

  void run_thread(Host& host, std::uint32_t index) {
    const Life life(host, index);
    Thread& thread = keep(std::make_unique<Thread>(host.wiring(), index, options_.seed));
    struct AtEnd {
      Thread& thread;
      ~AtEnd() { thread.end(); }
    } at_end{thread};
    const Ended ended = run_application(thread);
    if (ended.failure.empty()) return;
    const std::string name = fmt::format("thread {}/{}", host.name(), index);
    const std::string whose = fmt::format("{}: {}", name, ended.failure);
    add_failure(whose);
    host.wiring().note_failure(whose);
    if (ended.told)
      thread.fail(*ended.told);  // for those who were not in its round
    else
      thread.fail(fmt::format("{} failed: {}", name, ended.failure));
  }

  /// Who still has a reference to a thread that has ended finds it, and is refused by it.
  Thread& keep(std::unique_ptr<Thread> thread) {
    runtime::Lock lock(mutex_);
    return *threads_.emplace_back(std::move(thread));
  }

  struct Ended {
    std::string failure;                   // empty when it returned
    std::optional<TravelError> told = {};  // which those of its round have, too
  };
  Ended run_application(Thread& thread) {
    Ended ended = call_application(thread);
    if (runtime::forks_until_here() != forks_)
      runtime::end_process(fmt::format(
          "{}: a process that it made by fork must end by _exit or exec{}",
          runtime::describe_current_context(), ended.failure.empty() ? "" : ": " + ended.failure));
    return ended;
  }

  Ended call_application(Thread& thread) {
    const runtime::ApplicationCode inside;
    try {
      thread_(thread);
      return {};
    } catch (const TravelError& error) {
      return {error.what(), error};
    } catch (const runtime::Stop&) {
      throw;
    } catch (const base::UsageError& error) {
      return {error.mistake()};
    } catch (const std::exception& error) {
      return {error.what()};
    } catch (...) {
      // What pthread_exit() unwinds with has no type.
      if (abi::__cxa_current_exception_type() == nullptr)
        runtime::end_process(
            fmt::format("{}: pthread_exit or pthread_cancel; a thread ends by returning, and "
                        "fails by throwing",
                        runtime::describe_current_context()));
      return {"threw what is no std::exception"};
    }
  }

  void add_failure(std::string failure) {
    if (failure.empty() || runtime_.is_deadlocked()) return;
    runtime::Lock lock(mutex_);
    failures.push_back(std::move(failure));
  }

  std::shared_ptr<const Plan> plan_;
  const WrapperKinds& kinds_;
  const RunOptions& options_;
  const std::function<void(Thread&)>& thread_;
  runtime::Mutex mutex_;
  runtime::Runtime runtime_;
  LocalNetwork network_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<std::unique_ptr<Thread>> threads_;  // also those that have ended
  const std::uint32_t forks_ = runtime::forks_until_here();
  std::unique_ptr<Tracing> tracing_;
};

}  // namespace

std::vector<std::string> run_plan(std::shared_ptr<const Plan> plan, const WrapperKinds& kinds,
                                  const RunOptions& options,
                                  const std::function<void(Thread&)>& thread,
                                  const std::function<void(const RunSummary&)>& finish) {
  runtime::refuse_run_inside_run();
  const runtime::Runtime wall;  // its clock runs while the other may be virtual
  PlanRun run(plan, kinds, options, thread);
  tell_launcher(ThreadsState::running);
  run.run();
  tell_launcher(ThreadsState::ended);
  if (run.failures.empty() && finish) {
    const double seconds = std::chrono::duration<double>(wall.now()).count();
    finish({*plan, options.clock, options.seed, seconds, run.hosts()});
  }
  return run.failures;
}

}  // namespace paths
