// SPDX-License-Identifier: Apache-2.0
// paths/run/launch.cpp — supervision of processes by poll(), without threads.
#include "paths/run/launch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/errors.hpp"
#include "paths/run/processes/child_process.hpp"
#include "paths/run/processes/companions.hpp"
#include "paths/run/processes/output_stream.hpp"
#include "paths/run/processes/system_call.hpp"
#include "runtime/processes/machine.hpp"

namespace paths {
namespace {

constexpr int seconds_to_end = 2;
constexpr int seconds_of_silence = 5;
constexpr int death_longest_ms = 1000;  // longest wait for a process that the kernel is ending
constexpr int signal_code = 128;        // signal N gives exit code 128 + N, as in shells

struct FailedChild {
  const ChildProcess* child = nullptr;
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
  void start_companions();
  void end_companions();
  bool any_left() const;
  void wait_for_something();
  void take_signals();
  void collect_ended();
  void collect_ended_into(FailedChild& failed);
  bool wait_for_dying();
  void note_failure(const ChildProcess& child, int status);
  void read_states();
  void check_anybody_joined();
  void fail(const ChildProcess& child, const std::string& how, int exit_code);
  void stop_all(int signal);
  void set_timer(int seconds, bool again_and_again);
  void copy_output();
  void deliver_output();
  bool is_copied(const OutputStream& to) const;
  void look_at_readers();

  const LaunchOptions options_;
  InheritedSettings inherited_;
  base::Descriptor signals_, timer_;
  std::vector<ChildProcess> children_;
  Companions companions_{inherited_};
  OutputStream out_, err_;
  std::vector<LineCopier> copiers_;
  bool stopping_ = false;
  // True if all processes have ended and only the rest of their output must be delivered. The timer
  // then checks whether the readers of the output still read.
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
  ENSURE_EQ(pthread_sigmask(SIG_BLOCK, &mask, &inherited_.signal_mask), 0);
  signals_ = base::Descriptor(
      check_system_call(signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC), "signalfd"));
  timer_ = base::Descriptor(
      check_system_call(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd"));
  getrlimit(RLIMIT_NOFILE, &inherited_.descriptors);
  runtime::raise_descriptor_limit();
}

Launcher::~Launcher() {
  for (ChildProcess& child : children_)
    if (!child.has_ended()) child.kill_now();
  setrlimit(RLIMIT_NOFILE, &inherited_.descriptors);
  pthread_sigmask(SIG_SETMASK, &inherited_.signal_mask, nullptr);
}

int Launcher::run(const std::vector<Launch>& processes) {
  start_companions();
  for (const Launch& process : processes) start(process);
  while (any_left()) {
    wait_for_something();
    copy_output();
    take_signals();
  }
  end_companions();
  deliver_output();
  return exit_code_;
}

void Launcher::start_companions() {
  for (const Launch& one : options_.companions) {
    Pipe err = make_pipe();
    copiers_.emplace_back(std::move(err.read), err_, one.host + " companion| ");
    companions_.start(one, std::move(err.write));
  }
}

/// Stops the companions and waits until they have ended.
void Launcher::end_companions() {
  if (!companions_.are_stopped()) {
    companions_.stop(SIGTERM);
    set_timer(seconds_to_end, false);
  }
  while (companions_.any_left()) {
    wait_for_something();
    copy_output();
    take_signals();
  }
  if (const std::size_t count = companions_.restarts(); exit_code_ == 0 && count > 0)
    message_ =
        fmt::format("paths run: {} next to the hosts ended and was started again {} time{}\n",
                    options_.companions.front().command[0], count, count == 1 ? "" : "s");
}

void Launcher::start(const Launch& process) {
  if (process.plain) {
    children_.emplace_back(process, options_.out, options_.err, inherited_);
    return;
  }
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  children_.emplace_back(process, out.write.get(), err.write.get(), inherited_);
  copiers_.emplace_back(std::move(out.read), out_, process.host + "| ");
  copiers_.emplace_back(std::move(err.read), err_, process.host + "| ");
}

bool Launcher::any_left() const {
  return std::any_of(children_.begin(), children_.end(),
                     [](const ChildProcess& child) { return !child.has_ended(); });
}

void Launcher::wait_for_something() {
  std::vector<pollfd> watched = {{signals_.get(), POLLIN, 0}, {timer_.get(), POLLIN, 0}};
  for (const OutputStream* stream : {&out_, &err_}) {
    watched.push_back({stream->end(), POLLIN, 0});
    watched.push_back({stream->room(), POLLOUT, 0});
  }
  for (const LineCopier& copier : copiers_) watched.push_back({copier.readable(), POLLIN, 0});
  for (const ChildProcess& child : children_) {
    watched.push_back({child.end(), POLLIN, 0});
    watched.push_back({child.state_readable(), POLLIN, 0});
  }
  for (const int end : companions_.ends()) watched.push_back({end, POLLIN, 0});
  // Some descriptors are negative; poll() ignores negative descriptors.
  if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) check_system_call(-1, "poll");
}

void Launcher::copy_output() {
  for (OutputStream* stream : {&out_, &err_}) {
    stream->push();
    stream->is_done();  // reaps the stream's child process if it has ended
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
      // Only the loss of standard output turns a successful run into a failed one, because the
      // results of a run go there.
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

/// Stops the delivery of output if its readers have read nothing for too long. Called every second
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

/// Calls waitpid() for the ended processes, and reports the process that failed first. A process
/// may exit with an error because a process that it needs was killed. The killed process is then
/// the cause, but the kernel may still be ending it. This function therefore also waits for
/// processes that the kernel is ending.
void Launcher::collect_ended() {
  FailedChild failed;
  collect_ended_into(failed);
  for (bool is_any_dying = true; is_any_dying;) {
    if (failed.child == nullptr || stopping_ || WIFSIGNALED(failed.status)) break;
    is_any_dying = wait_for_dying();
    collect_ended_into(failed);
  }
  if (failed.child != nullptr && !stopping_) note_failure(*failed.child, failed.status);
  if (const auto failure = companions_.collect_ended()) {
    exit_code_ = failure->exit_code;
    message_ = fmt::format("paths run: {}; the hosts were stopped\n", failure->text);
    stop_all(SIGTERM);
  }
  read_states();
}

/// Waits until a process that the kernel is ending has ended, and returns true. Returns false if
/// there is no such process, or if the wait takes too long.
bool Launcher::wait_for_dying() {
  std::vector<pollfd> dying;
  for (const ChildProcess& child : children_)
    if (!child.has_ended() && child.is_dying()) dying.push_back({child.end(), POLLIN, 0});
  return !dying.empty() && poll(dying.data(), dying.size(), death_longest_ms) > 0;
}

void Launcher::collect_ended_into(FailedChild& failed) {
  for (ChildProcess& child : children_) {
    int status = 0;
    if (child.collect_exit(status) && status != 0 &&
        (failed.child == nullptr || (WIFSIGNALED(status) && WIFEXITED(failed.status))))
      failed = {&child, status};
  }
}

/// Reads which processes run their threads. Stops the run if a process will never run its threads,
/// or will not continue them, because the other processes would wait for these threads.
void Launcher::read_states() {
  bool any_ran = false;
  for (ChildProcess& child : children_) {
    child.read_state();
    any_ran = any_ran || (child.launch().is_host && child.has_joined());
  }
  if (stopping_) return;
  if (!any_ran) return check_anybody_joined();
  for (const ChildProcess& child : children_) {
    if (!child.has_ended()) continue;
    if (child.threads() == ThreadsState::running)
      return fail(child, "ended with exit code 0 before its threads had ended", 1);
    if (child.has_left_at_once())
      return fail(child, "ended with exit code 0 and never ran its threads", 1);
  }
}

/// Reports an error if all processes succeeded but no process ran threads, because such a run has
/// done nothing.
void Launcher::check_anybody_joined() {
  if (!options_.must_join || exit_code_ != 0) return;
  const ChildProcess* host = nullptr;
  for (const ChildProcess& child : children_) {
    if (!child.launch().is_host) continue;
    if (!child.has_left_at_once()) return;
    host = &child;
  }
  if (host == nullptr) return;
  exit_code_ = 1;
  message_ = fmt::format(
      "paths run: no program joined the run: '{}' ended with exit code 0 and never ran a thread of "
      "the config. Expected a program that calls paths::main, run_plan or Session; check its name "
      "and arguments. A script that starts such a program must pass on its environment and the "
      "open descriptor that PATHS_LAUNCHER names\n",
      fmt::join(host->launch().command, " "));
  if (any_left()) stop_all(SIGTERM);
}

void Launcher::note_failure(const ChildProcess& child, int status) {
  const bool is_reader_gone =
      child.launch().plain && WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE;
  const bool is_whole_run = child.launch().host.empty();
  const bool has_exited = WIFEXITED(status) && WEXITSTATUS(status) != not_started;
  if (is_reader_gone || (is_whole_run && has_exited)) {
    // No message is needed in two cases: the reader of a `plain` process's output has ended, or the
    // program runs all hosts and prints its own error.
    exit_code_ = is_reader_gone ? signal_code + SIGPIPE : WEXITSTATUS(status);
    return stop_all(SIGTERM);
  }
  std::string how;
  if (WIFSIGNALED(status)) {
    how =
        fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  } else if (WEXITSTATUS(status) == not_started) {
    how = fmt::format("could not start {}", child.launch().command[0]);
  } else {
    how = fmt::format("ended with exit code {}", WEXITSTATUS(status));
  }
  fail(child, how, WIFEXITED(status) && WEXITSTATUS(status) == 2 ? 2 : 1);
}

void Launcher::fail(const ChildProcess& child, const std::string& how, int exit_code) {
  message_ = fmt::format("paths run: {}{} {}{}\n",
                         child.launch().is_host && !child.launch().host.empty() ? "host " : "",
                         child.launch().host.empty() ? "the program" : child.launch().host, how,
                         any_left() ? "; the others were stopped" : "");
  exit_code_ = exit_code;
  stop_all(SIGTERM);
}

void Launcher::stop_all(int signal) {
  for (const ChildProcess& child : children_) child.send_signal(signal);
  companions_.stop(signal);
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

}  // namespace paths
