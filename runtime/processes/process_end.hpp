// SPDX-License-Identifier: Apache-2.0
// runtime/processes/process_end.hpp — a process that is told to end, or is doubled, while threads
// run in it.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace runtime {

/// How often the process that calls was made by fork, counted from the first count_forks() on: two
/// that differ are not the same process.
std::uint32_t forks_until_here();
void count_forks();
/// For what a process made by fork holds and cannot end: its threads are those of another one.
template <class Kept>
void keep_for_ever(Kept kept) {
  [[maybe_unused]] const auto* const leaked = new Kept(std::move(kept));
}

/// A run goes on in this process while one of these lives: who calls exit or quick_exit, or returns
/// from main(), ends the process with a sentence and the code 1, whatever code it meant. Peers
/// learn of it as of any death.
class RunInProcess {
 public:
  RunInProcess();
  ~RunInProcess();
  RunInProcess(const RunInProcess&) = delete;
  RunInProcess& operator=(const RunInProcess&) = delete;
};

/// In an OS thread that is of no run, for which the caller waits, whatever run he is of. Throws
/// std::system_error when there is none.
void do_outside_of_runs(const std::function<void()>& work);

/// Throws UsageError when the caller is a context of a run: two would take each other's clock.
void refuse_run_inside_run();

/// Code of the application runs in the calling context while one of these lives. Without it the
/// OS thread's own data, fibers among them, would be gone before exit() gets to RunInProcess.
class ApplicationCode {
 public:
  ApplicationCode();
  ~ApplicationCode();
  ApplicationCode(const ApplicationCode&) = delete;
  ApplicationCode& operator=(const ApplicationCode&) = delete;
};

/// Says the sentence and ends the process with the code 1, running nothing more of it.
[[noreturn]] void end_process(const std::string& sentence);

}  // namespace runtime
