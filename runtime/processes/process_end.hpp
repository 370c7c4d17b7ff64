// SPDX-License-Identifier: Apache-2.0
// runtime/processes/process_end.hpp — exit and fork of a process while threads run in it
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace runtime {

/// Returns the generation of the calling process: 0 for the process that first called
/// count_forks(), 1 for a child that it forked, 2 for a child of that child. The generation
/// distinguishes the child of a fork from its parent.
std::uint32_t forks_until_here();
void count_forks();
/// Keeps an object for ever instead of destroying it. The child of a fork needs it for objects that
/// own threads: the destructors of such objects would join threads that exist only in the parent.
template <class Kept>
void keep_for_ever(Kept kept) {
  [[maybe_unused]] const auto* const leaked = new Kept(std::move(kept));
}

/// While this object exists, a run is active in this process. During that time exit(), quick_exit()
/// and a return from main() print an error and end the process with code 1, regardless of the given
/// code. Other hosts detect this end like any death of a process.
class RunInProcess {
 public:
  RunInProcess();
  ~RunInProcess();
  RunInProcess(const RunInProcess&) = delete;
  RunInProcess& operator=(const RunInProcess&) = delete;
};

/// Runs `work` in a new OS thread outside any run, and blocks until it has ended. The caller may be
/// in a run. Throws std::system_error if the thread cannot start.
void do_outside_of_runs(const std::function<void()>& work);

/// Throws UsageError if the caller is a context of a run. A second run would replace the clock of
/// the first run.
void refuse_run_inside_run();

/// While this object exists, application code runs in the calling context, and exit() is detected
/// immediately. Without this object, exit() would first destroy the thread_locals of the OS thread,
/// and fibers with them. RunInProcess would detect exit() only after that.
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
