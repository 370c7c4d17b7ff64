// SPDX-License-Identifier: Apache-2.0
// paths/run/processes/child_process.cpp — fork, and steps of the child before the program runs.
#include "paths/run/processes/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "paths/run/processes/system_call.hpp"

namespace paths {
namespace {

/// Arguments of execve(). They are made before fork(), because the child process must not allocate
/// memory.
class Arguments {
 public:
  Arguments(const Launch& process, std::pair<std::string, std::string> state)
      : command_(process.command) {
    auto added = process.variables;
    added.push_back(std::move(state));
    for (char** variable = environ; *variable != nullptr; ++variable) {
      const std::string_view text = *variable;
      const std::string_view name = text.substr(0, text.find('='));
      const bool replaced = std::any_of(added.begin(), added.end(),
                                        [name](const auto& one) { return one.first == name; });
      if (!replaced) variables_.emplace_back(text);
    }
    for (const auto& [name, value] : added) variables_.push_back(name + "=" + value);
    for (std::string& word : command_) argv_.push_back(word.data());
    for (std::string& variable : variables_) envp_.push_back(variable.data());
    if (process.run_key != nullptr) {
      run_key_ = process.run_key->variable();
      envp_.push_back(reinterpret_cast<char*>(run_key_->bytes().data()));
    }
    argv_.push_back(nullptr);
    envp_.push_back(nullptr);
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  void execute() { execve(argv_[0], argv_.data(), envp_.data()); }

 private:
  std::vector<std::string> command_, variables_;
  std::optional<LockedMemory> run_key_;
  std::vector<char*> argv_, envp_;
};

/// Code of the child process between fork() and execve(), where only system calls are allowed.
[[noreturn]] void run_child(const Launch& launch, Arguments& arguments, int out, int err, int state,
                            pid_t parent, const InheritedSettings& inherited) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(not_started);
  if (launch.has_own_group) setpgid(0, 0);
  if (!launch.plain) {
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    if (nothing > STDERR_FILENO) close(nothing);
  }
  fcntl(state, F_SETFD, 0);  // lets the program inherit `state`
  // Duplicates `err` first, because dup2() of `out` might replace the descriptor `err`.
  const int spare_err = fcntl(err, F_DUPFD_CLOEXEC, 3);
  dup2(out, STDOUT_FILENO);
  dup2(spare_err, STDERR_FILENO);
  // Restores the default actions, because the launcher's signal handlers must not run in the
  // program. Signals that were ignored stay ignored, as under nohup.
  for (const int number : stopping_signals)
    if (signal(number, SIG_DFL) == SIG_IGN) signal(number, SIG_IGN);
  pthread_sigmask(SIG_SETMASK, &inherited.signal_mask, nullptr);
  setrlimit(RLIMIT_NOFILE, &inherited.descriptors);
  arguments.execute();
  static constexpr char text[] = "cannot start the program\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, sizeof text - 1);
  _exit(not_started);
}

}  // namespace

Pipe make_pipe() {
  int ends[2];
  check_system_call(pipe2(ends, O_CLOEXEC), "pipe");
  Pipe pipe{base::Descriptor(ends[0]), base::Descriptor(ends[1])};
  check_system_call(fcntl(ends[0], F_SETFL, O_NONBLOCK), "pipe");
  return pipe;
}

ChildProcess::ChildProcess(const Launch& launch, int out, int err,
                           const InheritedSettings& inherited)
    : ChildProcess(launch, out, err, inherited, make_threads_state_sockets()) {}

ChildProcess::ChildProcess(const Launch& launch, int out, int err,
                           const InheritedSettings& inherited, ThreadsStateSockets sockets)
    : launch_(&launch), state_(std::move(sockets.of_launcher)) {
  Arguments arguments(launch, threads_state_variable(sockets.of_process));
  const pid_t parent = getpid();
  pid_ = check_system_call(fork(), "fork");
  if (pid_ == 0)
    run_child(launch, arguments, out, err, sockets.of_process.get(), parent, inherited);
  // The child process may not have called setpgid() yet when it gets its first signal.
  if (launch.has_own_group) setpgid(pid_, pid_);
  const auto end = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  if (end < 0) {
    kill_now();
    check_system_call(-1, "pidfd_open");
  }
  end_ = base::Descriptor(end);
}

void ChildProcess::send_signal(int number) const {
  if (!has_ended()) kill(launch_->has_own_group ? -pid_ : pid_, number);
}

bool ChildProcess::is_dying() const {
  constexpr unsigned long is_exiting = 0x4;  // PF_EXITING of the kernel, which no header defines
  std::ifstream file(fmt::format("/proc/{}/stat", pid_));
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t name_end = text.rfind(')');  // the program's name may contain spaces and ')'
  unsigned long flags = 0;
  return name_end != std::string::npos &&
         std::sscanf(text.c_str() + name_end + 1, " %*c %*d %*d %*d %*d %*d %lu", &flags) == 1 &&
         (flags & is_exiting) != 0;
}

bool ChildProcess::collect_exit(int& status) {
  if (has_ended()) return false;
  if (launch_->has_own_group) {
    // Kills the rest of the group first, because the group's number may have another meaning after
    // waitpid().
    siginfo_t ended{};
    if (waitid(P_PID, pid_, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != pid_)
      return false;
    send_signal(SIGKILL);
  }
  if (waitpid(pid_, &status, WNOHANG) != pid_) return false;
  end_.close();
  state_.read();
  has_left_at_once_ = status == 0 && !threads();
  return true;
}

void ChildProcess::kill_now() {
  kill(launch_->has_own_group ? -pid_ : pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  end_.close();
}

}  // namespace paths
