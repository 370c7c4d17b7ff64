// SPDX-License-Identifier: Apache-2.0
// tests/support/processes.hpp — hosts of a plan as child processes, which tests can kill.
#pragma once
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "paths/run/free_ports.hpp"
#include "tests/support/clocks.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/run_key.hpp"
#include "tests/support/sim.hpp"

namespace test_support {

/// Returns the first of `count` consecutive ports that no other process uses. This process and its
/// children reserve these ports until they end, because tests and runs of `paths run` use ports in
/// parallel.
inline int free_ports(int count) {
  static std::vector<paths::FreePorts> held;
  auto taken = paths::FreePorts::take(static_cast<std::size_t>(count));
  if (!taken) throw std::runtime_error("no free ports");
  held.push_back(std::move(*taken));
  return held.back().first();
}

/// Returns a path for sockets at which no file exists. Its folder is removed with this process,
/// because hosts that a test kills leave their sockets.
inline std::string new_socket_path() {
  static const Folder folder("/tmp");  // paths of sockets must be short
  static int count = 0;
  return folder.file(std::to_string(++count));
}

/// Returns the line `network` of a config, with free ports or a new socket directory for the hosts.
inline std::string network_line(const std::string& transport, int hosts) {
  const std::string where = base::find_transport_kind(transport)->is_network
                                ? fmt::format("port: {}", free_ports(hosts))
                                : fmt::format("directory: {}", new_socket_path());
  return fmt::format("network: {{transport: {}, {}}}\n", transport, where);
}

/// Returns the words of all transports that a config can choose.
inline std::vector<std::string> every_transport() {
  const auto words = base::transport_words();
  return {words.begin(), words.end()};
}

/// Function with which a host process sends a line to the test.
using Say = std::function<void(const std::string& line)>;
/// Runs `work`. If it throws, says a line with "told: " and the error.
template <class Work>
void say_error(const Say& say, const Work& work) {
  try {
    work();
  } catch (const std::exception& error) {
    say(fmt::format("told: {}", error.what()));
  }
}
using HostThread = std::function<void(paths::Thread&, const Say&)>;
using HostFinish = std::function<void(const paths::RunSummary&, const Say&)>;

/// A process that runs one host. It prints each failure of the host as "failed: ...".
class HostProcess {
 public:
  HostProcess(const Sim& sim, std::uint32_t host, const HostThread& thread,
              const HostFinish& finish = {}, const std::string& trace = {})
      : HostProcess([&](const Say& say) { return run(sim, host, thread, finish, trace, say); }) {}
  /// Runs `program` in the process and ends the process with the exit code that `program` returns.
  explicit HostProcess(const std::function<int(const Say&)>& program) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    std::cout.flush();  // otherwise the child inherits the buffered text
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("no process");
    if (pid_ == 0) {
      close(ends[0]);
      // The test reads standard output and standard error, because warnings go to standard error.
      for (const int number : {STDOUT_FILENO, STDERR_FILENO}) dup2(ends[1], number);
      _exit(run(program, ends[1]));
    }
    close(ends[1]);
    from_ = ends[0];
  }
  HostProcess(HostProcess&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        from_(std::exchange(other.from_, -1)),
        text_(std::move(other.text_)) {}
  ~HostProcess() {
    if (pid_ > 0) kill_it();
    if (from_ >= 0) close(from_);
  }

  void kill_it() {
    signal_it(SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  /// Sends a signal. Requires: the process was not waited for. After a wait pid_ is -1, and
  /// kill(-1) would signal every process.
  void signal_it(int number) const {
    if (pid_ <= 0) throw std::logic_error("no process is left to be told");
    ::kill(pid_, number);
  }
  /// Reads output until it has a line that begins with `beginning`. Returns false if the process
  /// ends before that, or prints nothing for `milliseconds`. In this case, the next failing
  /// assertion shows what the process printed.
  bool says(const std::string& beginning, int milliseconds = 120'000) {
    while (("\n" + text_).find("\n" + beginning) == std::string::npos) {
      if (read_more(milliseconds)) continue;
      UNSCOPED_INFO("all that the process printed: " << text_);
      return false;
    }
    return true;
  }
  /// Reads all output until the process ends. Returns its exit code, or -1 if it printed nothing
  /// for `milliseconds` and did not end.
  int end(int milliseconds = 120'000) {
    while (read_more(milliseconds)) {
    }
    if (is_silent_) return -1;
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  const std::string& text() const { return text_; }
  pid_t pid() const { return pid_; }
  std::vector<std::string> lines(const std::string& beginning) const {
    std::vector<std::string> found;
    std::size_t at = 0;
    while (at < text_.size()) {
      const std::size_t next = std::min(text_.find('\n', at), text_.size());
      const std::string line = text_.substr(at, next - at);
      if (line.starts_with(beginning)) found.push_back(line.substr(beginning.size()));
      at = next + 1;
    }
    return found;
  }

  /// Returns the rest of the line that begins with `beginning`. Fails the test case unless there is
  /// exactly one such line.
  std::string line(const std::string& beginning) const {
    const auto found = lines(beginning);
    INFO("lines that begin with '" << beginning << "'");
    REQUIRE(found.size() == 1);
    return found.front();
  }

 private:
  static int run(const std::function<int(const Say&)>& program, int to) {
    runtime::Mutex mutex;
    const Say say = [&](const std::string& line) {
      runtime::Lock lock(mutex);
      const std::string whole = line + "\n";
      if (write(to, whole.data(), whole.size()) < 0) _exit(3);
    };
    return program(say);
  }
  static int run(const Sim& sim, std::uint32_t host, const HostThread& thread,
                 const HostFinish& finish, const std::string& trace, const Say& say) {
    paths::RunOptions options = {.is_one_host = true, .host = host, .trace = {trace, {}}};
    // Only hosts with `security: run` need the key of the run.
    if (sim.plan().security == paths::Plan::Security::run) options.run_key = run_key();
    try {
      const auto failures = paths::run_plan(
          sim.shared_plan(), sim.kinds(), options, [&](paths::Thread& one) { thread(one, say); },
          [&](const paths::RunSummary& summary) {
            if (finish) finish(summary, say);
          });
      for (const std::string& failure : failures) say("failed: " + failure);
      return failures.empty() ? 0 : 1;
    } catch (const std::exception& error) {
      say(std::string("broke: ") + error.what());
      return 2;
    } catch (const runtime::Stop& stop) {
      say(std::string("broke: ") + stop.what());
      return 2;
    }
  }
  bool read_more(int milliseconds) {
    pollfd wanted{from_, POLLIN, 0};
    is_silent_ = poll(&wanted, 1, milliseconds) <= 0;
    if (is_silent_) return false;
    char buffer[4096];
    const ssize_t size = read(from_, buffer, sizeof buffer);
    if (size <= 0) return false;
    text_.append(buffer, static_cast<std::size_t>(size));
    return true;
  }

  pid_t pid_ = -1;
  int from_ = -1;
  std::string text_;
  bool is_silent_ = false;
};

using HostProcesses = std::map<std::string, HostProcess>;  ///< indexed by name of the host

/// Starts all hosts of a plan except `absent`.
inline HostProcesses start_hosts(const Sim& sim, const HostThread& thread,
                                 const HostFinish& finish = {}, const std::string& trace = {},
                                 const std::string& absent = {}) {
  HostProcesses hosts;
  for (std::uint32_t host = 0; host < sim.plan().hosts.size(); ++host)
    if (const std::string& name = sim.plan().hosts[host].name; name != absent)
      hosts.emplace(name, HostProcess(sim, host, thread, finish, trace));
  return hosts;
}

/// Kills the process of a host and removes it from `hosts`.
inline void kill_host(HostProcesses& hosts, const std::string& victim) {
  hosts.at(victim).kill_it();
  hosts.erase(victim);
}

/// Waits for the end of the process. Checks that it ended without an error.
inline void check_ends_well(HostProcess& process, int milliseconds = 120'000) {
  const int code = process.end(milliseconds);
  INFO(process.text());
  CHECK(code == 0);
}

/// Waits for the end of each host and calls `check` with its name, process and exit code. A failed
/// check prints the name and the output of the host.
template <class Check>
void each_end(HostProcesses& hosts, const Check& check, int milliseconds = 120'000) {
  for (auto& [name, process] : hosts) {
    const int code = process.end(milliseconds);
    INFO(name << ": " << process.text());
    check(name, process, code);
  }
}

/// Waits for the end of each host and checks that no host reports a failure.
inline void check_all_end_well(HostProcesses& hosts) {
  each_end(hosts, [](const std::string&, const HostProcess& process, int code) {
    CHECK(code == 0);
    CHECK(process.text().find("failed") == std::string::npos);
  });
}

constexpr int soon = 5000;  ///< milliseconds in which a host must detect the loss of another host

/// Waits for the end of each host. Checks that each host fails soon, that `threads(name)` threads
/// of the host fail, and that each error names the lost host.
inline void check_loss(HostProcesses& hosts, const std::string& lost,
                       const std::function<std::size_t(const std::string& name)>& threads) {
  const auto check = [&](const std::string& name, const HostProcess& process, int code) {
    CHECK(code == 1);
    const auto failures = process.lines("failed: ");
    CHECK(failures.size() == threads(name));
    for (const std::string& failure : failures)
      CHECK_THAT(failure, Catch::Contains("host " + lost));
  };
  each_end(hosts, check, soon);
}

/// Returns the processes that `paths run` started for a config, by the names of their hosts.
inline std::map<std::string, pid_t> processes_of(const std::string& config_file) {
  std::map<std::string, pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string variables = '\0' + read_text(entry.path() / "environ");
    const auto value = [&](const std::string& variable) -> std::string {
      const auto at = variables.find('\0' + variable + '=');
      if (at == std::string::npos) return "";
      const auto from = at + variable.size() + 2;
      return variables.substr(from, variables.find('\0', from) - from);
    };
    if (value("PATHS_CONFIG") == config_file && !value("PATHS_HOST").empty())
      found[value("PATHS_HOST")] = std::stoi(name);
  }
  return found;
}

/// Starts a process that runs a command line. The command replaces its shell, so signals reach the
/// command.
inline HostProcess start_command(const std::string& command) {
  return HostProcess([&](const Say&) {
    execl("/bin/sh", "sh", "-c", ("exec " + command).c_str(), nullptr);
    return 127;
  });
}

}  // namespace test_support
