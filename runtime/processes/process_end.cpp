// SPDX-License-Identifier: Apache-2.0
// runtime/processes/process_end.cpp — handlers for exit and fork
#include "runtime/processes/process_end.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/say.hpp"
#include "base/usage_error.hpp"
#include "runtime/runtime.hpp"

namespace runtime {
namespace {

std::atomic<std::uint32_t> forks{0};
std::atomic<int> runs{0};
std::atomic<std::uint32_t> process_of_runs{0};

bool is_in_run() { return runs.load() > 0 && process_of_runs.load() == forks.load(); }

[[noreturn]] void refuse_exit() {
  end_process(
      fmt::format("{}: exit was called before the threads of the process had ended; a thread ends "
                  "by returning, and fails by throwing",
                  describe_current_context()));
}

void at_exit() {
  if (is_in_run()) refuse_exit();
}

/// Detects exit() inside application code. exit() destroys thread_locals, the youngest first,
/// before it calls exit handlers. This thread_local must therefore be younger than the fibers of
/// its thread.
struct ExitWatch {
  int inside = 0;
  ~ExitWatch() {
    if (inside == 0 || runs.load() == 0) return;
    if (is_in_run()) refuse_exit();
    end_process(fmt::format("{}: a process that a thread made by fork must end by _exit or exec",
                            describe_current_context()));
  }
};
/// Returns the ExitWatch of this thread, and creates it at the first call. A thread_local outside
/// of a function might be created earlier, together with others, and thus be older than the fibers.
ExitWatch& exit_watch() {
  thread_local ExitWatch watch;
  return watch;
}

}  // namespace

std::uint32_t forks_until_here() { return forks.load(std::memory_order_relaxed); }

void do_outside_of_runs(const std::function<void()>& work) { std::thread(work).join(); }

void count_forks() {
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, [] { ++forks; });
}

RunInProcess::RunInProcess() {
  count_forks();
  [[maybe_unused]] static const bool is_watched =
      std::atexit(at_exit) == 0 && std::at_quick_exit(at_exit) == 0;
  process_of_runs = forks.load();
  ++runs;
}
RunInProcess::~RunInProcess() { --runs; }

void refuse_run_inside_run() {
  if (is_inside_a_run())
    throw base::UsageError("a run may not begin inside a thread of another run");
}

ApplicationCode::ApplicationCode() { ++exit_watch().inside; }
ApplicationCode::~ApplicationCode() { --exit_watch().inside; }

void end_process(const std::string& sentence) {
  base::say(sentence + '\n');
  std::fflush(nullptr);
  _exit(1);
}

}  // namespace runtime
