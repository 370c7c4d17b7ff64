// SPDX-License-Identifier: Apache-2.0
// tests/paths/launch_real.cpp — processes that start, print and stop together, and the identity of
// a process.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "paths/plan/identity.hpp"
#include "paths/run/find_program.hpp"
#include "paths/run/launch.hpp"
#include "runtime/runtime.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/sim.hpp"
#include "tests/support/thrown.hpp"

namespace {

using namespace paths;
using namespace test_support;
using namespace std::chrono_literals;

void pause_shortly() { pause(10ms); }

Launch shell(std::string host, std::string script) {
  Launch launch;
  launch.host = std::move(host);
  launch.command = {"/bin/sh", "-c", std::move(script)};
  return launch;
}

struct Launched {
  int code = 0;
  std::string out, err;
  base::Nanos took{0};
};

Launched launched(const std::vector<Launch>& processes, LaunchOptions options = {}) {
  const Folder folder;
  const std::string out = folder.write("out", ""), err = folder.write("err", "");
  options.out = open(out.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  options.err = open(err.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  const Stopwatch clock;
  const base::Nanos before = clock.now();
  Launched outcome;
  outcome.code = launch(processes, options);
  outcome.took = clock.now() - before;
  outcome.out = read_text(out);
  outcome.err = read_text(err);
  close(options.out);
  close(options.err);
  return outcome;
}

bool alive(pid_t pid) { return kill(pid, 0) == 0; }

/// Waits a limited time for the end of a process that is not our child. Returns whether it ended.
bool ends_soon(pid_t pid) {
  for (int i = 0; i < 500 && alive(pid); ++i) pause_shortly();
  return !alive(pid);
}

Plan plan_of(const std::vector<std::pair<std::string, std::string>>& hosts) {
  Plan plan;
  plan.clusters = {"alpha"};
  for (const auto& [name, address] : hosts) {
    Plan::PlanHost host;
    host.name = name;
    host.address = address;
    plan.hosts.push_back(host);
  }
  return plan;
}

std::optional<std::uint32_t> identity_with(const std::map<std::string, std::string>& variables) {
  const Plan plan = plan_of({{"alpha-0", ""}, {"alpha-1", ""}, {"beta-0", ""}});
  return identity(plan, [&variables](const std::string& name) {
    const auto found = variables.find(name);
    return found != variables.end() ? found->second : "";
  });
}

std::string identity_error(const std::map<std::string, std::string>& variables) {
  return thrown<base::ConfigError>([&] { identity_with(variables); });
}

}  // namespace

TEST_CASE(
    "launch: processes that all exit with 0 print lines with the host's name except the plain "
    "one") {
  Launch first = shell("alpha-0", "echo table; echo progress >&2");
  first.plain = true;
  const Launched outcome = launched(
      {first, shell("alpha-1", "echo one; echo two; printf end"), shell("beta-0", "echo no >&2")});
  CHECK(outcome.code == 0);
  CHECK(outcome.out.find("table\n") != std::string::npos);
  // The line of alpha-0 may stand between two lines of alpha-1.
  const std::size_t one = outcome.out.find("alpha-1| one\n"),
                    two = outcome.out.find("alpha-1| two\n"),
                    end = outcome.out.find("alpha-1| end\n");
  CHECK(one < two);
  CHECK(two < end);
  CHECK(end != std::string::npos);
  CHECK(outcome.out.size() ==
        std::string("table\nalpha-1| one\nalpha-1| two\nalpha-1| end\n").size());
  CHECK(outcome.err.find("progress\n") != std::string::npos);
  CHECK(outcome.err.find("beta-0| no\n") != std::string::npos);
}

TEST_CASE("launch: lines of many processes are never mixed") {
  const std::string script =
      "i=0; while [ $i -lt 500 ]; do echo abcdefghijklmnop; i=$((i+1)); done";
  const Launched outcome = launched({shell("a", script), shell("b", script), shell("c", script)});
  std::istringstream lines(outcome.out);
  std::map<std::string, int> count;
  for (std::string line; std::getline(lines, line);) ++count[line];
  CHECK(count == std::map<std::string, int>{{"a| abcdefghijklmnop", 500},
                                            {"b| abcdefghijklmnop", 500},
                                            {"c| abcdefghijklmnop", 500}});
}

TEST_CASE("launch: each process has its own variables and those of the launcher") {
  setenv("PATHS_LAUNCH_TEST", "ours", 1);
  Launch one = shell("a", "echo $PATHS_HOST $PATHS_LAUNCH_TEST");
  one.variables = {{"PATHS_HOST", "a"}};
  Launch two = shell("b", "echo $PATHS_HOST $PATHS_LAUNCH_TEST");
  two.variables = {{"PATHS_HOST", "b"}, {"PATHS_LAUNCH_TEST", "changed"}};
  const Launched outcome = launched({one, two});
  unsetenv("PATHS_LAUNCH_TEST");
  CHECK(outcome.out.find("a| a ours\n") != std::string::npos);
  CHECK(outcome.out.find("b| b changed\n") != std::string::npos);
}

TEST_CASE("launch: the first failure stops the others and is named") {
  const Launched outcome = launched({shell("alpha-0", "exec sleep 60"), shell("alpha-1", "exit 3"),
                                     shell("beta-0", "exec sleep 60")});
  CHECK(outcome.code == 1);
  CHECK(outcome.err == "paths run: host alpha-1 ended with exit code 3; the others were stopped\n");
  CHECK(outcome.took < 1500ms);
}

TEST_CASE("launch: exit code 2 is passed on") {
  const Launched outcome = launched({shell("alpha-0", "exit 2")});
  CHECK(outcome.code == 2);
  CHECK(outcome.err == "paths run: host alpha-0 ended with exit code 2\n");
}

namespace {

std::string own_file() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

/// Returns a Launch that starts this test program with only the hidden test case `name`.
Launch hidden(std::string host, std::string name) {
  Launch launch;
  launch.host = std::move(host);
  launch.command = {own_file(), "[." + name + "]"};
  return launch;
}

/// Runs all hosts in this process, on the steady clock.
std::vector<std::string> run_hosts(const std::function<void(paths::Thread&)>& thread) {
  const Sim sim("clusters: {alpha: {hosts: 1, threads: 2}}\n");
  return run_plan(sim.shared_plan(), sim.kinds(), {}, thread);
}

}  // namespace

TEST_CASE("a program whose threads end", "[.launched-well]") {
  CHECK(run_hosts([](paths::Thread&) {}).empty());
}

TEST_CASE("a program that exits while its threads run", "[.launched-exits]") {
  run_hosts([](paths::Thread& thread) {
    thread.sleep_for(50ms);
    if (thread.index() == 1) _exit(0);
    thread.sleep_for(60s);
  });
}

TEST_CASE("a program whose threads take long", "[.launched-long]") {
  run_hosts([](paths::Thread& thread) { thread.sleep_for(60s); });
}

TEST_CASE("launch: a host that exits with 0 before its threads have ended is a failure") {
  const Launched outcome = launched({hidden("a", "launched-exits"), shell("b", "sleep 60")});
  CHECK(outcome.code == 1);
  CHECK(outcome.err ==
        "paths run: host a ended with exit code 0 before its threads had ended; the others were "
        "stopped\n");
  CHECK(outcome.took < 10s);
}

TEST_CASE(
    "launch: a host that exits with 0 without running a thread is a failure if others ran some") {
  const Launch well = hidden("a", "launched-well");
  CHECK(launched({well, well}).code == 0);
  CHECK(launched({shell("a", "exit 0"), shell("b", "exit 0")}).code == 0);
  const bool is_first = GENERATE(true, false);
  Launch slow = well;
  slow.command = {"/bin/sh", "-c", "sleep 0.3; exec " + own_file() + " '[.launched-long]'"};
  const Launch fast = hidden("a", "launched-long");
  const Launch none = shell("b", is_first ? "exit 0" : "sleep 0.02; exit 0");
  const Launched outcome = launched({is_first ? slow : fast, none});
  CHECK(outcome.code == 1);
  CHECK(outcome.err ==
        "paths run: host b ended with exit code 0 and never ran its threads; the others were "
        "stopped\n");
}

TEST_CASE("launch: a killed process is a failure with its signal") {
  const Launched outcome =
      launched({shell("alpha-0", "exec sleep 60"), shell("alpha-1", "kill -KILL $$")});
  CHECK(outcome.code == 1);
  CHECK(outcome.err ==
        "paths run: host alpha-1 was killed by signal 9 (Killed); the others were stopped\n");
}

TEST_CASE("launch: a process that ignores SIGTERM is killed after two seconds") {
  const Launched outcome =
      launched({shell("alpha-0", "trap '' TERM; echo here; while :; do read line </dev/zero; done"),
                shell("alpha-1", "sleep 0.3; exit 1")});
  CHECK(outcome.code == 1);
  CHECK(outcome.took > 1900ms);
  CHECK(outcome.took < 6s);
  CHECK(outcome.err.find("host alpha-1 ended with exit code 1") != std::string::npos);
}

TEST_CASE("launch: processes left behind by a process do not delay the launcher") {
  const Launched outcome = launched({shell("a", "sleep 20 & echo done"), shell("b", "echo done")});
  CHECK(outcome.code == 0);
  CHECK(outcome.out.find("a| done\n") != std::string::npos);
  CHECK(outcome.took < 5s);
}

TEST_CASE("launch: a program that cannot be started is a failure") {
  Launch launch;
  launch.host = "alpha-0";
  launch.command = {"/no/such/program"};
  const Launched outcome = launched({launch, shell("alpha-1", "exec sleep 60")});
  CHECK(outcome.code == 1);
  CHECK(
      outcome.err.find("paths run: host alpha-0 could not start /no/such/program; the others were "
                       "stopped\n") != std::string::npos);
}

TEST_CASE("launch: a signal to the launcher stops all processes") {
  const int signal = GENERATE(SIGINT, SIGTERM, SIGKILL);
  INFO(signal);
  const WrittenFile file("");
  const std::string& pids = file.path();
  const pid_t launcher = fork();
  if (launcher == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    const std::string script = fmt::format("echo $$ >>{}; exec sleep 60", pids);
    _exit(launch({shell("a", script), shell("b", script)}, {.out = nowhere, .err = nowhere}));
  }
  const auto started = [&pids] {
    const std::string text = read_text(pids);
    return std::count(text.begin(), text.end(), '\n');
  };
  for (int i = 0; i < 500 && started() < 2; ++i) pause_shortly();
  std::istringstream lines(read_text(pids));
  pid_t first = 0, second = 0;
  REQUIRE(lines >> first >> second);
  REQUIRE(launcher > 0);
  kill(launcher, signal);
  int status = 0;
  REQUIRE(waitpid(launcher, &status, 0) == launcher);
  if (signal != SIGKILL) CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 1));
  CHECK(ends_soon(first));
  CHECK(ends_soon(second));
}

namespace {

/// Standard output for a launcher: a pipe that the test reads only when it chooses to.
struct UnreadPipe {
  UnreadPipe() { REQUIRE(pipe2(ends, O_CLOEXEC) == 0); }
  ~UnreadPipe() {
    for (const int end : ends) close(end);
  }
  int ends[2];
};

/// A launcher in another process, whose standard error is a file.
struct ForkedLauncher {
  ForkedLauncher(const std::vector<Launch>& processes, LaunchOptions options) {
    options.err = open(err.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    pid = fork();
    if (pid == 0) _exit(launch(processes, options));
    close(options.err);
  }
  ~ForkedLauncher() {
    if (pid > 0) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }
  /// Waits for the end of the launcher. Returns its exit code, or -1 if it has not ended within ten
  /// seconds.
  int end() {
    int status = 0;
    for (int i = 0; i < 1000; ++i) {
      if (waitpid(pid, &status, WNOHANG) == pid) {
        pid = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      pause_shortly();
    }
    return -1;
  }
  const WrittenFile file{""};
  const std::string& err = file.path();
  pid_t pid = -1;
};

/// Returns a Launch that starts a program. The program appends its process id to the file `pids`,
/// then prints until it is stopped.
Launch chatterbox(std::string host, const std::string& pids) {
  return shell(std::move(host), fmt::format("echo $$ >>{}; exec yes", pids));
}

std::vector<pid_t> wait_for_pids(const std::string& file, std::size_t count) {
  std::vector<pid_t> pids;
  for (int i = 0; i < 1000 && pids.size() < count; ++i) {
    pause_shortly();
    pids.clear();
    std::istringstream lines(read_text(file));
    for (pid_t pid = 0; lines >> pid;) pids.push_back(pid);
  }
  return pids;
}

void wait_for_full(const UnreadPipe& pipe) {
  pollfd room{pipe.ends[1], POLLOUT, 0};
  for (int i = 0; i < 1000 && poll(&room, 1, 0) > 0; ++i) pause_shortly();
}

}  // namespace

TEST_CASE("launch: a signal stops all processes while the output is not read") {
  const int signal = GENERATE(SIGTERM, SIGINT, SIGHUP);
  const UnreadPipe pipe;
  const WrittenFile file("");
  const std::string& pids = file.path();
  ForkedLauncher launcher({chatterbox("a", pids), chatterbox("b", pids)}, {.out = pipe.ends[1]});
  const std::vector<pid_t> started = wait_for_pids(pids, 2);
  REQUIRE(started.size() == 2);
  wait_for_full(pipe);
  kill(launcher.pid, signal);
  CHECK(launcher.end() == 1);
  const std::string err = read_text(launcher.err);
  CHECK(err.find(fmt::format("paths run: stopped by {}\n", strsignal(signal))) !=
        std::string::npos);
  CHECK(err.find(
            "paths run: nothing has read standard output for 2 s; what was not read is lost\n") !=
        std::string::npos);
  for (const pid_t pid : started) CHECK(ends_soon(pid));
}

TEST_CASE("launch: a failed process stops all others while the output is not read") {
  const UnreadPipe pipe;
  const WrittenFile file("");
  const std::string& pids = file.path();
  ForkedLauncher launcher({chatterbox("a", pids), shell("b", "sleep 0.5; exit 3")},
                          {.out = pipe.ends[1]});
  const std::vector<pid_t> started = wait_for_pids(pids, 1);
  CHECK(launcher.end() == 1);
  CHECK(read_text(launcher.err)
            .find("paths run: host b ended with exit code 3; the others were stopped\n") == 0);
  for (const pid_t pid : started) CHECK(ends_soon(pid));
}

TEST_CASE("launch: output that is not read within the reader's deadline is lost with a warning") {
  const UnreadPipe pipe;
  ForkedLauncher launcher({shell("a", "yes | head -c 200000")},
                          {.out = pipe.ends[1], .reader_deadline = 1s});
  CHECK(launcher.end() == 1);
  CHECK(read_text(launcher.err) ==
        "paths run: nothing has read standard output for 1 s; what was not read is lost\n");
}

TEST_CASE("launch: a signal ends the wait for a reader of the output") {
  const UnreadPipe pipe;
  ForkedLauncher launcher({shell("a", "yes | head -c 200000; echo end >&2")},
                          {.out = pipe.ends[1]});
  for (int i = 0; i < 1000 && read_text(launcher.err).empty(); ++i) pause_shortly();
  REQUIRE(read_text(launcher.err) == "a| end\n");
  for (int i = 0; i < 20; ++i) pause_shortly();
  kill(launcher.pid, SIGINT);
  CHECK(launcher.end() == 1);
  CHECK(read_text(launcher.err).find("paths run: stopped by Interrupt\n") != std::string::npos);
}

TEST_CASE("launch: a reader that begins late gets every line") {
  const UnreadPipe pipe;
  const std::string script =
      "i=0; while [ $i -lt 20000 ]; do echo $i abcdefghijklmnop; i=$((i+1)); done";
  ForkedLauncher launcher({shell("a", script), shell("b", script)}, {.out = pipe.ends[1]});
  wait_for_full(pipe);
  std::map<char, int> next;
  std::string text;
  char bytes[4096];
  fcntl(pipe.ends[0], F_SETFL, O_NONBLOCK);
  int code = -1;
  for (int i = 0; i < 3000 && (next['a'] < 20000 || next['b'] < 20000); ++i) {
    for (ssize_t count = 0; (count = read(pipe.ends[0], bytes, sizeof bytes)) > 0;)
      text.append(bytes, static_cast<std::size_t>(count));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
      const std::string line = text.substr(begin, end - begin);
      REQUIRE(line == fmt::format("{}| {} abcdefghijklmnop", line[0], next[line[0]]));
      ++next[line[0]];
    }
    text.erase(0, begin);
    pause_shortly();
  }
  code = launcher.end();
  CHECK(code == 0);
  CHECK(next == std::map<char, int>{{'a', 20000}, {'b', 20000}});
}

TEST_CASE("launch: with must_join a run that no program joined is an error") {
  const LaunchOptions options{.must_join = true};
  const auto outcome = [&](const std::vector<Launch>& processes) {
    return launched(processes, options);
  };
  const Launched none = outcome({shell("a", "exit 0"), shell("b", "exit 0")});
  CHECK(none.code == 1);
  CHECK(none.err.find("paths run: no program joined the run: '/bin/sh -c exit 0' ended with exit "
                      "code 0 and never ran a thread of the config") == 0);
  CHECK(outcome({hidden("a", "launched-well"), hidden("b", "launched-well")}).code == 0);
  // If a program fails in addition, the error names the exit code of that program instead.
  CHECK(outcome({shell("a", "exit 0"), shell("b", "exit 2")})
            .err.find("paths run: host b ended with exit code 2") == 0);
  const Launched some = outcome({hidden("a", "launched-well"), shell("b", "exit 0")});
  CHECK(some.code == 1);
  CHECK(some.err.find("paths run: host b ended with exit code 0 and never ran its threads") == 0);
  // The launcher itself starts helper processes such as switches. A helper does not count as a
  // program that joins the run.
  Launch helper = hidden("the switch of a", "launched-long");
  helper.is_host = false;
  const Launched with_helper = outcome({shell("a", "exit 0"), helper});
  CHECK(with_helper.code == 1);
  CHECK(with_helper.err.find("no program joined the run") != std::string::npos);
  CHECK(with_helper.took < 10s);
}

TEST_CASE(
    "launch: a program is searched next to the launcher and then in PATH unless it is a path") {
  const auto names = programs_beside();
  REQUIRE_FALSE(names.empty());
  const auto beside = find_program(names.front());
  REQUIRE(beside);
  CHECK(beside->find('/') != std::string::npos);
  CHECK(find_program("sh").value().ends_with("/sh"));
  CHECK(find_program("/bin/sh") == "/bin/sh");
  CHECK_FALSE(find_program("no-such-program-anywhere"));
  CHECK_FALSE(find_program("/tmp"));
}

TEST_CASE("identity: a name or a number in the order of the config") {
  CHECK(identity_with({}) == std::nullopt);
  CHECK(identity_with({{"PATHS_HOST", ""}}) == std::nullopt);
  CHECK(identity_with({{"PATHS_HOST", "beta-0"}}) == 2u);
  CHECK(identity_with({{"SLURM_PROCID", "1"}}) == 1u);
  CHECK(identity_with({{"PMI_RANK", "2"}}) == 2u);
  CHECK(identity_with({{"PMIX_RANK", "2"}}) == 2u);
  CHECK(identity_with({{"OMPI_COMM_WORLD_RANK", "1"}}) == 1u);
  CHECK(identity_with({{"PATHS_HOST", "alpha-0"}, {"SLURM_PROCID", "1"}}) == 0u);
  CHECK(identity_with({{"OMPI_COMM_WORLD_RANK", "2"}, {"SLURM_PROCID", "0"}}) == 2u);
}

TEST_CASE("identity: a rank without the matching number of processes causes one warning") {
  const Plan plan = plan_of({{"alpha-0", ""}, {"alpha-1", ""}, {"beta-0", ""}});
  const auto doubt = [&plan](const std::map<std::string, std::string>& variables) {
    return doubt_about_identity(plan, [&variables](const std::string& name) {
      const auto found = variables.find(name);
      return found != variables.end() ? found->second : "";
    });
  };
  CHECK(doubt({{"SLURM_PROCID", "0"}, {"SLURM_JOB_ID", "7"}}) ==
        "this process is host alpha-0, because SLURM_PROCID is 0, and waits for the other hosts; "
        "but SLURM_STEP_ID is not set, so srun did not start this process, but a batch script did. "
        "Start a process for each host (srun, mpirun or `paths run`), say which host it is by "
        "--host or PATHS_HOST, or unset SLURM_PROCID and it is all hosts");
  CHECK(doubt({{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "3"}}) ==
        "");
  CHECK(doubt({{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}})
            .find("SLURM_STEP_NUM_TASKS is 2, so 1 of the config's 3 hosts have no process") !=
        std::string::npos);
  CHECK(doubt({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}})
            .find("OMPI_COMM_WORLD_SIZE is 1, so 2 of") != std::string::npos);
  CHECK(doubt({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}) == "");
  CHECK(doubt({{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}, {"SLURM_PROCID", "0"}}) == "");
  CHECK(doubt({{"PATHS_HOST", "alpha-0"}, {"SLURM_PROCID", "0"}}) == "");
  CHECK(doubt({}) == "");
}

TEST_CASE("identity: a host that the plan does not have is refused") {
  CHECK(identity_error({{"PATHS_HOST", "alpha1"}}) ==
        "environment: PATHS_HOST: expected the name of a host of the config, found 'alpha1'; did "
        "you mean 'alpha-1'?");
  CHECK(identity_error({{"SLURM_PROCID", "3"}}) ==
        "environment: SLURM_PROCID: expected the number of a host, 0 to 2 in the order of the "
        "config, found '3'");
  CHECK(identity_error({{"PMI_RANK", "1x"}}).find("PMI_RANK") != std::string::npos);
  CHECK(identity_error({{"PMI_RANK", "-1"}}).find("found '-1'") != std::string::npos);
}

TEST_CASE("identity: loopback and Unix sockets and own interfaces are on this machine") {
  const Plan plan = plan_of({{"a", "tcp://127.0.0.1:7700"},
                             {"b", "tcp://203.0.113.77:7700"},
                             {"c", "ipc:///tmp/paths/c"},
                             {"d", "tcp://localhost:7701"},
                             {"e", "tcp://[::1]:7700"},
                             {"f", "tcp://127.3.4.5:7700"}});
  const auto here = hosts_on_this_machine(plan);
  CHECK(std::count(here.begin(), here.end(), 0u) == 1);
  CHECK(std::count(here.begin(), here.end(), 1u) == 0);
  CHECK(std::count(here.begin(), here.end(), 2u) == 1);
  CHECK(std::count(here.begin(), here.end(), 3u) == 1);
  CHECK(std::count(here.begin(), here.end(), 5u) == 1);
}
