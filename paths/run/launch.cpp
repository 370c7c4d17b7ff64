// SPDX-License-Identifier: Apache-2.0
// paths/run/launch.cpp — process control by fork, pipes and poll, without threads.
#include "paths/run/launch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/descriptor.hpp"
#include "base/errors.hpp"
#include "paths/run/output_stream.hpp"
#include "runtime/processes/machine.hpp"

namespace paths {
namespace {

constexpr int seconds_to_end = 2;
constexpr int seconds_of_silence = 5;
constexpr int death_longest_ms = 1000;  // longest wait for the kernel to end a killed process
constexpr int stopping_signals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int not_started = 127;  // exit code if a program could not be started, as in shells
constexpr int signal_code = 128;  // signal N gives exit code 128 + N, as in shells
/// Environment variable with the number of the descriptor to which a program writes its
/// ThreadsState, and with the identity of the descriptor's file. By the identity, a program notices
/// if the number now belongs to another file.
constexpr const char* state_variable = "PATHS_LAUNCHER";

int checked(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

/// Arguments of execve(). They are made before fork(), because the child process must not allocate
/// memory.
class Arguments {
 public:
  Arguments(const Launch& process, const std::string& state) : command_(process.command) {
    auto added = process.variables;
    added.emplace_back(state_variable, state);
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

struct Pipe {
  base::Descriptor read, write;
};

Pipe make_pipe() {
  int ends[2];
  checked(pipe2(ends, O_CLOEXEC), "pipe");
  Pipe pipe{base::Descriptor(ends[0]), base::Descriptor(ends[1])};
  checked(fcntl(ends[0], F_SETFL, O_NONBLOCK), "pipe");
  return pipe;
}

struct Pair {
  base::Descriptor ours, theirs;
};

Pair make_pair() {
  int ends[2];
  checked(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), "socketpair");
  return {base::Descriptor(ends[0]), base::Descriptor(ends[1])};
}

/// Returns text that identifies a descriptor and its file; "" if the descriptor is not an open
/// socket.
std::string identity_of(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISSOCK(status.st_mode)) return "";
  return fmt::format("{}:{}", descriptor, status.st_ino);
}

struct Child {
  const Launch* launch = nullptr;
  pid_t pid = 0;
  base::Descriptor end;    ///< readable when the process has ended; closed afterwards
  base::Descriptor state;  ///< socket that receives the state of the process's threads
  std::optional<ThreadsState> threads = {};
  bool left_at_once = false;  ///< whether the process exited with 0 and never ran its threads
  bool ended() const { return !end; }
  bool is_dying() const;
  bool has_joined() const { return threads && *threads != ThreadsState::not_needed; }

  void read_state() {
    char states[64];
    ssize_t count = 0;
    while (state && (count = read(state.get(), states, sizeof states)) > 0)
      threads = static_cast<ThreadsState>(states[count - 1]);
    if (count == 0) state.close();
  }
};

/// Returns whether the kernel is ending the process. Peers may notice the loss of their connections
/// before waitpid() reports the end.
bool Child::is_dying() const {
  constexpr unsigned long is_exiting = 0x4;  // PF_EXITING of the kernel, which no header defines
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t name_end = text.rfind(')');  // the name may contain spaces
  unsigned long flags = 0;
  return name_end != std::string::npos &&
         std::sscanf(text.c_str() + name_end + 1, " %*c %*d %*d %*d %*d %*d %lu", &flags) == 1 &&
         (flags & is_exiting) != 0;
}

struct FailedChild {
  const Child* child = nullptr;
  int status = 0;
};

class Launcher {
 public:
  explicit Launcher(const LaunchOptions& options);
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  int run(const std::vector<Launch>& processes);

 private:
  void start(const Launch& process);
  [[noreturn]] void run_child(Arguments& arguments, bool plain, int out, int err, int state,
                              pid_t parent);
  bool any_left() const;
  void wait_for_something();
  void take_signals();
  void collect_ended();
  void collect_ended_into(FailedChild& failed);
  bool wait_for_dying();
  void note_failure(const Child& child, int status);
  void read_states();
  void check_anybody_joined();
  void fail(const Child& child, const std::string& how, int exit_code);
  void stop_all(int signal);
  void set_timer(int seconds, bool again_and_again);
  void copy_output();
  void deliver_output();
  bool is_copied(const OutputStream& to) const;
  void look_at_readers();

  const LaunchOptions options_;
  sigset_t mask_before_;
  rlimit descriptors_before_{};
  base::Descriptor signals_, timer_;
  std::vector<Child> children_;
  OutputStream out_, err_;
  std::vector<LineCopier> copiers_;
  bool stopping_ = false;
  // Whether all processes have ended, and only their output is still delivered. The timer then
  // checks whether the readers still read.
  bool is_delivering_ = false;
  std::size_t undelivered_ = 0;
  int seconds_unread_ = 0;
  int exit_code_ = 0;
  std::string message_;
};

Launcher::Launcher(const LaunchOptions& options)
    : options_(options), out_(options.out), err_(options.err) {
  sigset_t mask;
  sigemptyset(&mask);
  for (const int signal : stopping_signals) sigaddset(&mask, signal);
  ENSURE_EQ(pthread_sigmask(SIG_BLOCK, &mask, &mask_before_), 0);
  signals_ = base::Descriptor(checked(signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC), "signalfd"));
  timer_ = base::Descriptor(
      checked(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd"));
  getrlimit(RLIMIT_NOFILE, &descriptors_before_);
  runtime::raise_descriptor_limit();
}

Launcher::~Launcher() {
  for (Child& child : children_) {
    if (child.ended()) continue;
    kill(child.pid, SIGKILL);
    waitpid(child.pid, nullptr, 0);
  }
  setrlimit(RLIMIT_NOFILE, &descriptors_before_);
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

int Launcher::run(const std::vector<Launch>& processes) {
  for (const Launch& process : processes) start(process);
  while (any_left()) {
    wait_for_something();
    copy_output();
    take_signals();
  }
  deliver_output();
  return exit_code_;
}

void Launcher::start(const Launch& process) {
  Pair state = make_pair();
  Arguments arguments(process, identity_of(state.theirs.get()));
  Pipe out, err;
  if (!process.plain) {
    out = make_pipe();
    err = make_pipe();
  }
  const int child_out = process.plain ? options_.out : out.write.get();
  const int child_err = process.plain ? options_.err : err.write.get();
  const pid_t parent = getpid();
  const pid_t pid = checked(fork(), "fork");
  if (pid == 0)
    run_child(arguments, process.plain, child_out, child_err, state.theirs.get(), parent);
  const auto end = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (end < 0) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    checked(-1, "pidfd_open");
  }
  children_.push_back({&process, pid, base::Descriptor(end), std::move(state.ours)});
  if (process.plain) return;
  copiers_.emplace_back(std::move(out.read), out_, process.host + "| ");
  copiers_.emplace_back(std::move(err.read), err_, process.host + "| ");
}

// Runs between fork() and execve(), so only system calls are allowed.
void Launcher::run_child(Arguments& arguments, bool plain, int out, int err, int state,
                         pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(not_started);
  if (!plain) {
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    if (nothing > STDERR_FILENO) close(nothing);
  }
  fcntl(state, F_SETFD, 0);  // the program inherits `state`
  // Duplicates `err` first, because dup2() of `out` might replace the descriptor `err`.
  const int spare_err = fcntl(err, F_DUPFD_CLOEXEC, 3);
  dup2(out, STDOUT_FILENO);
  dup2(spare_err, STDERR_FILENO);
  // Restores the default actions, because the launcher's signal handlers must not run in the
  // program. Signals that were ignored stay ignored, as under nohup.
  for (const int number : stopping_signals)
    if (signal(number, SIG_DFL) == SIG_IGN) signal(number, SIG_IGN);
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  setrlimit(RLIMIT_NOFILE, &descriptors_before_);
  arguments.execute();
  static constexpr char text[] = "cannot start the program\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, sizeof text - 1);
  _exit(not_started);
}

bool Launcher::any_left() const {
  return std::any_of(children_.begin(), children_.end(),
                     [](const Child& child) { return !child.ended(); });
}

void Launcher::wait_for_something() {
  std::vector<pollfd> watched = {{signals_.get(), POLLIN, 0}, {timer_.get(), POLLIN, 0}};
  for (const OutputStream* stream : {&out_, &err_}) {
    watched.push_back({stream->end(), POLLIN, 0});
    watched.push_back({stream->room(), POLLOUT, 0});
  }
  for (const LineCopier& copier : copiers_) watched.push_back({copier.readable(), POLLIN, 0});
  for (const Child& child : children_) {
    watched.push_back({child.end.get(), POLLIN, 0});
    watched.push_back({child.state.get(), POLLIN, 0});
  }
  // Some descriptors are negative; poll() ignores these.
  if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) checked(-1, "poll");
}

void Launcher::copy_output() {
  for (OutputStream* stream : {&out_, &err_}) {
    stream->push();
    stream->is_done();  // calls waitpid() for a child process that was killed
  }
  for (LineCopier& copier : copiers_) copier.copy();
}

bool Launcher::is_copied(const OutputStream& to) const {
  return std::none_of(copiers_.begin(), copiers_.end(), [&to](const LineCopier& copier) {
    return copier.is_open() && &copier.to() == &to;
  });
}

/// Delivers the processes' output and the message about the run. Stops when the readers take no
/// more output.
/// Requires: all processes have ended.
void Launcher::deliver_output() {
  is_delivering_ = true;
  // Copies only the output that is available now, because background children of the processes may
  // hold the pipes open forever.
  for (LineCopier& copier : copiers_) copier.finish_soon();
  set_timer(1, true);
  copy_output();
  undelivered_ = out_.undelivered() + err_.undelivered();
  for (;;) {
    copy_output();
    if (is_copied(out_)) out_.close();
    if (is_copied(err_)) err_.append(std::exchange(message_, {}));
    if (out_.is_done() && is_copied(err_)) {
      // The results of a run go to standard output. Only their loss turns a successful run into a
      // failed one.
      if (out_.is_lost() && exit_code_ == 0) {
        exit_code_ = 1;
        err_.append("paths run: standard output could not be written\n");
      }
      err_.close();
      if (err_.is_done()) return;
    }
    wait_for_something();
    take_signals();
  }
}

/// Stops the delivery of output if the readers have read nothing for too long. Called every second
/// at the end of the run.
void Launcher::look_at_readers() {
  const std::size_t undelivered = out_.undelivered() + err_.undelivered();
  if (std::exchange(undelivered_, undelivered) != undelivered) {
    seconds_unread_ = 0;
    return;
  }
  const bool is_out = !out_.is_done();
  const char* const what = is_out ? "standard output" : "standard error";
  const auto patience = stopping_
                            ? std::chrono::seconds(seconds_to_end)
                            : std::chrono::ceil<std::chrono::seconds>(options_.reader_deadline);
  if (++seconds_unread_ >= patience.count()) {
    (is_out ? out_ : err_).abandon();
    if (exit_code_ == 0) exit_code_ = 1;
    err_.append(fmt::format("paths run: nothing has read {} for {} s; what was not read is lost\n",
                            what, std::exchange(seconds_unread_, 0)));
  } else if (seconds_unread_ == seconds_of_silence) {
    err_.append(
        fmt::format("paths run: all processes have ended; waiting up to {} s for a reader "
                    "of {} (Ctrl-C ends the wait)\n",
                    patience.count(), what));
  }
}

void Launcher::take_signals() {
  signalfd_siginfo signal;
  while (read(signals_.get(), &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal)) {
    if (is_delivering_) out_.abandon();
    if (is_delivering_ && stopping_) err_.abandon();
    if (exit_code_ == 0) {
      exit_code_ = 1;
      message_ =
          fmt::format("paths run: stopped by {}\n", strsignal(static_cast<int>(signal.ssi_signo)));
    }
    stop_all(stopping_ ? SIGKILL : SIGTERM);
  }
  std::uint64_t expirations;
  if (read(timer_.get(), &expirations, sizeof expirations) > 0) {
    if (is_delivering_) return look_at_readers();
    stop_all(SIGKILL);
  }
  collect_ended();
}

/// Calls waitpid() for the ended processes, and reports the one that failed first. A process may
/// exit with an error because it lost a process that was killed. The kernel may still be ending the
/// killed process, although that process is the cause. This function therefore waits for processes
/// that the kernel is ending.
void Launcher::collect_ended() {
  FailedChild failed;
  collect_ended_into(failed);
  for (bool is_any_dying = true; is_any_dying;) {
    if (failed.child == nullptr || stopping_ || WIFSIGNALED(failed.status)) break;
    is_any_dying = wait_for_dying();
    collect_ended_into(failed);
  }
  if (failed.child != nullptr && !stopping_) note_failure(*failed.child, failed.status);
  read_states();
}

/// Waits until a process that the kernel is ending has ended, and returns true. Returns false if
/// there is no such process, or if the wait takes too long.
bool Launcher::wait_for_dying() {
  std::vector<pollfd> dying;
  for (const Child& child : children_)
    if (!child.ended() && child.is_dying()) dying.push_back({child.end.get(), POLLIN, 0});
  return !dying.empty() && poll(dying.data(), dying.size(), death_longest_ms) > 0;
}

void Launcher::collect_ended_into(FailedChild& failed) {
  for (Child& child : children_) {
    int status = 0;
    if (child.ended() || waitpid(child.pid, &status, WNOHANG) != child.pid) continue;
    child.end.close();
    child.read_state();
    child.left_at_once = status == 0 && !child.threads;
    if (status != 0 &&
        (failed.child == nullptr || (WIFSIGNALED(status) && WIFEXITED(failed.status))))
      failed = {&child, status};
  }
}

/// Reads which processes run their threads. Stops the run if a process will never run its threads,
/// or will not continue them, because the other processes would wait for these threads.
void Launcher::read_states() {
  bool any_ran = false;
  for (Child& child : children_) {
    child.read_state();
    any_ran = any_ran || (child.launch->is_host && child.has_joined());
  }
  if (stopping_) return;
  if (!any_ran) return check_anybody_joined();
  for (const Child& child : children_) {
    if (!child.ended()) continue;
    if (child.threads == ThreadsState::running)
      return fail(child, "ended with exit code 0 before its threads had ended", 1);
    if (child.left_at_once)
      return fail(child, "ended with exit code 0 and never ran its threads", 1);
  }
}

/// Reports an error if all processes succeeded but none ran threads, because such a run has done
/// nothing.
void Launcher::check_anybody_joined() {
  if (!options_.must_join || exit_code_ != 0) return;
  const Child* host = nullptr;
  for (const Child& child : children_) {
    if (!child.launch->is_host) continue;
    if (!child.left_at_once) return;
    host = &child;
  }
  if (host == nullptr) return;
  exit_code_ = 1;
  message_ = fmt::format(
      "paths run: no program joined the run: '{}' ended with exit code 0 and never ran a thread of "
      "the config. Expected a program that calls paths::main, run_plan or Session; check its name "
      "and arguments. A script that starts such a program must pass on its environment and the "
      "open descriptor that PATHS_LAUNCHER names\n",
      fmt::join(host->launch->command, " "));
  if (any_left()) stop_all(SIGTERM);
}

void Launcher::note_failure(const Child& child, int status) {
  const bool is_reader_gone =
      child.launch->plain && WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE;
  const bool is_whole_run = child.launch->host.empty();
  const bool has_exited = WIFEXITED(status) && WEXITSTATUS(status) != not_started;
  if (is_reader_gone || (is_whole_run && has_exited)) {
    // No message is needed: a process whose reader has ended fails quietly, and a program that is
    // the whole run prints its own error.
    exit_code_ = is_reader_gone ? signal_code + SIGPIPE : WEXITSTATUS(status);
    return stop_all(SIGTERM);
  }
  std::string how;
  if (WIFSIGNALED(status)) {
    how =
        fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  } else if (WEXITSTATUS(status) == not_started) {
    how = fmt::format("could not start {}", child.launch->command[0]);
  } else {
    how = fmt::format("ended with exit code {}", WEXITSTATUS(status));
  }
  fail(child, how, WIFEXITED(status) && WEXITSTATUS(status) == 2 ? 2 : 1);
}

void Launcher::fail(const Child& child, const std::string& how, int exit_code) {
  message_ = fmt::format("paths run: {}{} {}{}\n",
                         child.launch->is_host && !child.launch->host.empty() ? "host " : "",
                         child.launch->host.empty() ? "the program" : child.launch->host, how,
                         any_left() ? "; the others were stopped" : "");
  exit_code_ = exit_code;
  stop_all(SIGTERM);
}

void Launcher::stop_all(int signal) {
  for (const Child& child : children_)
    if (!child.ended()) kill(child.pid, signal);
  if (std::exchange(stopping_, true)) return;
  if (!is_delivering_) set_timer(seconds_to_end, false);
}

void Launcher::set_timer(int seconds, bool again_and_again) {
  itimerspec limit{};
  limit.it_value.tv_sec = seconds;
  if (again_and_again) limit.it_interval.tv_sec = seconds;
  timerfd_settime(timer_.get(), 0, &limit, nullptr);
}

}  // namespace

int launch(const std::vector<Launch>& processes, const LaunchOptions& options) {
  Launcher launcher(options);
  return launcher.run(processes);
}

void notify_launcher(ThreadsState state) {
  const char* const variable = std::getenv(state_variable);
  int descriptor = -1;
  if (variable == nullptr || std::sscanf(variable, "%d:", &descriptor) != 1) return;
  if (identity_of(descriptor) != variable) return;
  const char byte = static_cast<char>(state);
  [[maybe_unused]] const auto sent = send(descriptor, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace paths
