// SPDX-License-Identifier: Apache-2.0
// paths/run/launch.cpp — fork, pipes and poll: no threads, and no clock but the kernel's timer.
#include "paths/run/launch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
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
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/errors.hpp"

namespace paths {
namespace {

constexpr int seconds_to_end = 2;
constexpr std::size_t line_bytes_max = 65536;  // longer ones are shown in parts
constexpr int reads_in_a_row = 16;  // more than a pipe holds; a chatterbox must not keep us
constexpr int stopping_signals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int not_started = 127;  // exit code, as shells have it
/// In the environment of a process: the descriptor for ThreadsState, and which file that is, as a
/// number alone may be another's by then.
constexpr const char* state_variable = "PATHS_LAUNCHER";

/// A descriptor of our own, closed when it goes.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }
  int number() const { return number_; }
  bool open() const { return number_ >= 0; }
  void close() {
    if (open()) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

int checked(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

/// Answers whether all could be written.
bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd room{descriptor, POLLOUT, 0};
      poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

/// Lines of one stream of one process on their way to ours.
class LineCopier {
 public:
  LineCopier(Descriptor from, int to, std::string prefix)
      : from_(std::move(from)), to_(to), prefix_(std::move(prefix)) {}
  int descriptor() const { return from_.number(); }
  int to() const { return to_; }
  bool open() const { return from_.open(); }
  /// Some of it was lost, because it could not be written.
  bool lost() const { return lost_; }

  /// Copies what is there now; the end of the stream closes it.
  void copy() {
    char bytes[16384];
    for (int i = 0; i < reads_in_a_row; ++i) {
      const ssize_t count = read(from_.number(), bytes, sizeof bytes);
      if (count > 0) {
        pending_.append(bytes, static_cast<std::size_t>(count));
        write_lines();
      } else if (count < 0 && errno == EINTR) {
        continue;
      } else {
        if (count == 0 || errno != EAGAIN) finish();
        return;
      }
    }
  }
  /// Nothing more will come.
  void finish() {
    if (!pending_.empty()) {
      pending_ += '\n';
      write_lines();
    }
    from_.close();
  }

 private:
  void write_lines() {
    std::string lines;
    std::size_t begin = 0;
    for (;;) {
      const std::size_t end = pending_.find('\n', begin);
      if (end == std::string::npos) break;
      lines += prefix_ + pending_.substr(begin, end + 1 - begin);
      begin = end + 1;
    }
    pending_.erase(0, begin);
    if (pending_.size() >= line_bytes_max) lines += prefix_ + std::exchange(pending_, {}) + '\n';
    if (!write_all(to_, lines)) lost_ = true;
  }

  Descriptor from_;
  int to_;
  std::string prefix_;
  std::string pending_;
  bool lost_ = false;
};

/// What execve() takes, made before fork(): afterwards nothing may allocate.
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
    argv_.push_back(nullptr);
    envp_.push_back(nullptr);
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  void execute() { execve(argv_[0], argv_.data(), envp_.data()); }

 private:
  std::vector<std::string> command_, variables_;
  std::vector<char*> argv_, envp_;
};

struct Pipe {
  Descriptor read, write;
};

Pipe make_pipe() {
  int ends[2];
  checked(pipe2(ends, O_CLOEXEC), "pipe");
  Pipe pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  checked(fcntl(ends[0], F_SETFL, O_NONBLOCK), "pipe");
  return pipe;
}

struct Pair {
  Descriptor ours, theirs;
};

Pair make_pair() {
  int ends[2];
  checked(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), "socketpair");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// A descriptor and which file it is; "" when it is none.
std::string identity_of(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISSOCK(status.st_mode)) return "";
  return fmt::format("{}:{}", descriptor, status.st_ino);
}

struct Child {
  const Launch* launch = nullptr;
  pid_t pid = 0;
  Descriptor end;    ///< readable when it has ended; closed when that was seen
  Descriptor state;  ///< of its threads
  std::optional<ThreadsState> threads = {};
  bool left_at_once = false;  ///< ended with 0, and never ran its threads
  bool ended() const { return !end.open(); }

  void read_state() {
    char states[64];
    ssize_t count = 0;
    while (state.open() && (count = read(state.number(), states, sizeof states)) > 0)
      threads = static_cast<ThreadsState>(states[count - 1]);
    if (count == 0) state.close();
  }
};

class Launcher {
 public:
  explicit Launcher(LaunchStreams streams);
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  int run(const std::vector<Launch>& processes);

 private:
  void start(const Launch& process);
  [[noreturn]] void run_child(Arguments& arguments, bool plain, int out, int err, int state,
                              pid_t parent);
  bool anybody_left() const;
  void wait_for_something();
  void take_signals();
  void collect_ended();
  void note_failure(const Child& child, int status);
  void read_states();
  void fail(const Child& child, const std::string& how, int exit_code);
  void stop_all(int signal);
  void copy_output();

  LaunchStreams streams_;
  sigset_t mask_before_;
  Descriptor signals_, timer_;
  std::vector<Child> children_;
  std::vector<LineCopier> copiers_;
  bool stopping_ = false;
  int exit_code_ = 0;
  std::string message_;
};

Launcher::Launcher(LaunchStreams streams) : streams_(streams) {
  sigset_t mask;
  sigemptyset(&mask);
  for (const int signal : stopping_signals) sigaddset(&mask, signal);
  ENSURE_EQ(pthread_sigmask(SIG_BLOCK, &mask, &mask_before_), 0);
  signals_ = Descriptor(checked(signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC), "signalfd"));
  timer_ =
      Descriptor(checked(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd"));
}

Launcher::~Launcher() {
  for (Child& child : children_) {
    if (child.ended()) continue;
    kill(child.pid, SIGKILL);
    waitpid(child.pid, nullptr, 0);
  }
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

int Launcher::run(const std::vector<Launch>& processes) {
  for (const Launch& process : processes) start(process);
  while (anybody_left()) {
    wait_for_something();
    copy_output();
    take_signals();
  }
  // What the processes left running themselves may hold the pipes open for ever.
  copy_output();
  for (LineCopier& copier : copiers_) {
    if (copier.open()) copier.finish();
    // Standard error is not what anybody ran the program for.
    if (copier.to() == streams_.err || !copier.lost() || exit_code_ != 0) continue;
    exit_code_ = 1;
    message_ = "paths run: standard output could not be written\n";
  }
  write_all(streams_.err, message_);
  return exit_code_;
}

void Launcher::start(const Launch& process) {
  Pair state = make_pair();
  Arguments arguments(process, identity_of(state.theirs.number()));
  Pipe out, err;
  if (!process.plain) {
    out = make_pipe();
    err = make_pipe();
  }
  const int child_out = process.plain ? streams_.out : out.write.number();
  const int child_err = process.plain ? streams_.err : err.write.number();
  const pid_t parent = getpid();
  const pid_t pid = checked(fork(), "fork");
  if (pid == 0)
    run_child(arguments, process.plain, child_out, child_err, state.theirs.number(), parent);
  const auto end = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (end < 0) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    checked(-1, "pidfd_open");
  }
  children_.push_back({&process, pid, Descriptor(end), std::move(state.ours)});
  if (process.plain) return;
  copiers_.emplace_back(std::move(out.read), streams_.out, process.host + "| ");
  copiers_.emplace_back(std::move(err.read), streams_.err, process.host + "| ");
}

// Between fork() and execve(): system calls only.
void Launcher::run_child(Arguments& arguments, bool plain, int out, int err, int state,
                         pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(not_started);
  if (!plain) {
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    if (nothing > STDERR_FILENO) close(nothing);
  }
  fcntl(state, F_SETFD, 0);  // goes with the program
  // Neither may overwrite the other's source.
  const int spare_err = fcntl(err, F_DUPFD_CLOEXEC, 3);
  dup2(out, STDOUT_FILENO);
  dup2(spare_err, STDERR_FILENO);
  // A handler of ours must not run in there; what is ignored stays ignored, as under nohup.
  for (const int number : stopping_signals)
    if (signal(number, SIG_DFL) == SIG_IGN) signal(number, SIG_IGN);
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  arguments.execute();
  static constexpr char text[] = "cannot start the program\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, sizeof text - 1);
  _exit(not_started);
}

bool Launcher::anybody_left() const {
  return std::any_of(children_.begin(), children_.end(),
                     [](const Child& child) { return !child.ended(); });
}

void Launcher::wait_for_something() {
  std::vector<pollfd> watched = {{signals_.number(), POLLIN, 0}, {timer_.number(), POLLIN, 0}};
  for (const LineCopier& copier : copiers_)
    if (copier.open()) watched.push_back({copier.descriptor(), POLLIN, 0});
  for (const Child& child : children_) {
    if (!child.ended()) watched.push_back({child.end.number(), POLLIN, 0});
    if (child.state.open()) watched.push_back({child.state.number(), POLLIN, 0});
  }
  if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) checked(-1, "poll");
}

void Launcher::copy_output() {
  for (LineCopier& copier : copiers_)
    if (copier.open()) copier.copy();
}

void Launcher::take_signals() {
  signalfd_siginfo signal;
  while (read(signals_.number(), &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal)) {
    if (exit_code_ == 0) {
      exit_code_ = 1;
      message_ =
          fmt::format("paths run: stopped by {}\n", strsignal(static_cast<int>(signal.ssi_signo)));
    }
    stop_all(stopping_ ? SIGKILL : SIGTERM);
  }
  std::uint64_t expirations;
  if (read(timer_.number(), &expirations, sizeof expirations) > 0) stop_all(SIGKILL);
  collect_ended();
}

void Launcher::collect_ended() {
  const Child* failed = nullptr;
  int failed_status = 0;
  for (Child& child : children_) {
    int status = 0;
    if (child.ended() || waitpid(child.pid, &status, WNOHANG) != child.pid) continue;
    child.end.close();
    child.read_state();
    child.left_at_once = status == 0 && !child.threads;
    // Of those found together, one that was killed is the likelier cause.
    if (status != 0 && (failed == nullptr || (WIFSIGNALED(status) && WIFEXITED(failed_status)))) {
      failed = &child;
      failed_status = status;
    }
  }
  if (failed != nullptr && !stopping_) note_failure(*failed, failed_status);
  read_states();
}

/// Others wait for threads that will never run, or not go on.
void Launcher::read_states() {
  bool any_ran = false;
  for (Child& child : children_) {
    child.read_state();
    any_ran = any_ran || child.threads;
  }
  if (stopping_ || !any_ran) return;
  for (const Child& child : children_) {
    if (!child.ended()) continue;
    if (child.threads == ThreadsState::running)
      return fail(child, "ended with exit code 0 before its threads had ended", 1);
    if (child.left_at_once)
      return fail(child, "ended with exit code 0 and never ran its threads", 1);
  }
}

void Launcher::note_failure(const Child& child, int status) {
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
  message_ =
      fmt::format("paths run: {}{} {}{}\n", child.launch->is_host ? "host " : "",
                  child.launch->host, how, anybody_left() ? "; the others were stopped" : "");
  exit_code_ = exit_code;
  stop_all(SIGTERM);
}

void Launcher::stop_all(int signal) {
  for (const Child& child : children_)
    if (!child.ended()) kill(child.pid, signal);
  if (std::exchange(stopping_, true)) return;
  itimerspec limit{};
  limit.it_value.tv_sec = seconds_to_end;
  timerfd_settime(timer_.number(), 0, &limit, nullptr);
}

std::filesystem::path own_folder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

bool is_program(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0;
}

}  // namespace

int launch(const std::vector<Launch>& processes, LaunchStreams streams) {
  Launcher launcher(streams);
  return launcher.run(processes);
}

std::string become(const Launch& process) {
  Arguments arguments(process, "");
  arguments.execute();
  return fmt::format("cannot start {}: {}", process.command[0], std::strerror(errno));
}

void tell_launcher(ThreadsState state) {
  const char* const variable = std::getenv(state_variable);
  int descriptor = -1;
  if (variable == nullptr || std::sscanf(variable, "%d:", &descriptor) != 1) return;
  if (identity_of(descriptor) != variable) return;
  const char byte = static_cast<char>(state);
  [[maybe_unused]] const auto sent = send(descriptor, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::optional<std::string> find_program(const std::string& name) {
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string::npos)
    return is_program(name) ? std::optional(name) : std::nullopt;
  if (const auto beside = own_folder() / name; is_program(beside)) return beside.string();
  const char* path = std::getenv("PATH");
  std::string_view folders = path != nullptr ? path : "";
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
    const auto file = std::filesystem::path(folder.empty() ? "." : folder) / name;
    if (is_program(file)) return file.string();
  }
  return std::nullopt;
}

std::vector<std::string> programs_beside() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(own_folder(), ignored))
    if (is_program(entry.path())) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace paths
