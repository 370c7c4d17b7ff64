// SPDX-License-Identifier: Apache-2.0
// runtime/processes/process_end.hpp — exit and fork of a process while threads run in it
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace runtime {

/// Returns how often fork created the calling process, counted from the first count_forks(). Two
/// different values mean two different processes.
std::uint32_t forks_until_here();
void count_forks();
/// Leaks an object that a forked process holds and cannot destroy, because its threads belong to
/// another process.
template <class Kept>
void keep_for_ever(Kept kept) {
  [[maybe_unused]] const auto* const leaked = new Kept(std::move(kept));
}

/// Marks a run in this process while it lives. Meanwhile exit(), quick_exit() and a return from
/// main() print an error and end the process with code 1, regardless of the given code. Peers
/// detect this like any death of a process.
class RunInProcess {
 public:
  RunInProcess();
  ~RunInProcess();
  RunInProcess(const RunInProcess&) = delete;
  RunInProcess& operator=(const RunInProcess&) = delete;
};

/// Runs `work` in a new OS thread outside any run, and blocks until it has ended. The caller may be
/// in a run. Throws std::system_error if there is no thread.
void do_outside_of_runs(const std::function<void()>& work);

/// Throws UsageError if the caller is a context of a run: two runs would take each other's clock.
void refuse_run_inside_run();

/// Marks that application code runs in the calling context. Without it, exit() would destroy the OS
/// thread's thread_locals, fibers among them, before RunInProcess could react.
class ApplicationCode {
 public:
  ApplicationCode();
  ~ApplicationCode();
  ApplicationCode(const ApplicationCode&) = delete;
  ApplicationCode& operator=(const ApplicationCode&) = delete;
};

/// Prints `sentence` and ends the process with code 1. Runs no destructors or exit handlers.
[[noreturn]] void end_process(const std::string& sentence);

}  // namespace runtime
