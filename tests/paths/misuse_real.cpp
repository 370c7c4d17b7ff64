// SPDX-License-Identifier: Apache-2.0
// tests/paths/misuse_real.cpp — a thread that ends its process or forks, and the errors of peers.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/support/processes.hpp"

namespace {

using namespace test_support;

std::string config() {
  return network_line("ipc", 2) + R"(
clusters: {alpha: {hosts: 1, threads: 2}, beta: {hosts: 1, threads: 1}}
links: [{between: [alpha, beta], latency: 1ms}]
collectives: {sum: {operation: sum, template: f64, algorithm: sequential}}
)";
}

/// Returns a thread function in which thread alpha-0/1 calls `wrong` between two rounds.
HostThread thread_with(const std::function<void()>& wrong) {
  return [wrong](paths::Thread& thread, const Say&) {
    thread.path("sum").move_value(1.0);
    if (thread.rank() == 1) wrong();
    thread.path("sum").move_value(1.0);
  };
}

/// Starts a process that runs all hosts. The test receives its standard error.
HostProcess all_hosts(const Sim& sim, runtime::ClockKind clock,
                      const std::function<void()>& wrong) {
  return HostProcess([&](const Say& say) {
    const SimResult run =
        sim.run([&](paths::Thread& thread) { thread_with(wrong)(thread, say); }, clock);
    for (const std::string& failure : run.failures) say("failed: " + failure);
    return run.ended_well() ? 0 : 1;
  });
}

[[noreturn]] void leave_by_pthread_exit() { pthread_exit(nullptr); }

}  // namespace

// Does not run under the thread sanitizer, because a thread calls pthread_exit.
TEST_CASE("misuse: a thread that ends the process gets an error and the exit code is 1",
          "[without_tsan]") {
  const auto clock = GENERATE(runtime::ClockKind::virtual_time, runtime::ClockKind::steady);
  const Sim sim(config());
  const std::string exited = "exit was called before the threads of the process had ended";
  const std::vector<std::pair<std::function<void()>, std::string>> ways = {
      {[] { std::exit(0); }, exited},
      {[] { std::exit(7); }, exited},
      {[] { std::quick_exit(0); }, exited},
      {leave_by_pthread_exit, "pthread_exit or pthread_cancel"},
  };
  for (const auto& [wrong, words] : ways) {
    HostProcess process = all_hosts(sim, clock, wrong);
    CHECK(process.end() == 1);
    INFO(process.text());
    CHECK_THAT(process.text(), Catch::StartsWith("thread alpha-0/1 at ") && Catch::Contains(words));
  }
}

TEST_CASE("misuse: a process that a thread forked may not use its paths or return",
          "[without_tsan]") {
  const auto clock = GENERATE(runtime::ClockKind::virtual_time, runtime::ClockKind::steady);
  const Sim sim(config());
  const std::vector<std::function<void()>> ways = {
      [] {},  // the child of the fork continues with the next move
      [] { throw std::runtime_error("in the child"); },  //
      [] { std::exit(0); },
  };
  for (const auto& child : ways) {
    HostProcess process = all_hosts(sim, clock, [&child] {
      const pid_t pid = fork();
      if (pid == 0) return child();
      int status = 0;
      waitpid(pid, &status, 0);
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 1) throw std::runtime_error("child's end");
    });
    CHECK(process.end() == 0);  // the parent's run continues and ends without error
    INFO(process.text());
    CHECK_THAT(process.text(), Catch::Contains("made by fork must end by _exit or exec"));
  }
}

TEST_CASE("misuse: peers of a host whose thread exits get an error that it is gone") {
  const Sim sim(config());
  auto processes = start_hosts(sim, thread_with([] { std::exit(0); }));
  HostProcess& other = processes.at("beta-0");
  CHECK(processes.at("alpha-0").end() == 1);
  CHECK(other.end() == 1);
  INFO(other.text());
  CHECK_THAT(other.text(), Catch::Contains("host alpha-0 is gone"));
}

TEST_CASE("misuse: main may not return during a run in another thread") {
  const Sim sim(config());
  HostProcess process([&](const Say&) -> int {
    int begun[2];
    if (pipe(begun) != 0) return 3;
    pthread_t runner;
    static const Sim* runs = &sim;
    static int tell = begun[1];
    pthread_create(
        &runner, nullptr,
        [](void*) -> void* {
          runs->run(
              [](paths::Thread& thread) {
                if (write(tell, "x", 1) == 1) thread.sleep_for(std::chrono::seconds(20));
              },
              runtime::ClockKind::steady);
          return nullptr;
        },
        nullptr);
    char one;
    if (read(begun[0], &one, 1) != 1) return 4;
    std::exit(0);
  });
  CHECK(process.end() == 1);
  CHECK_THAT(process.text(), Catch::StartsWith("main thread: exit was called"));
}
