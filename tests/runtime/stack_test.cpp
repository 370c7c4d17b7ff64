// SPDX-License-Identifier: Apache-2.0
// tests/runtime/stack_test.cpp — sizes of stacks, and reports of overflows.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <string>

#include "runtime/runtime.hpp"
#include "tests/support/as_child.hpp"
#include "tests/support/clocks.hpp"

using namespace runtime;
using namespace test_support;

namespace {

const ContextName name{"thread", "alpha-0", 3};
const ContextName service_name{"service", "beta-1", 12};

/// Sums a grid on the stack, as numerical programs do.
double sum_of_grid() {
  volatile double grid[200][200];
  double sum = 0;
  for (auto& row : grid)
    for (auto& cell : row) cell = 1;
  for (auto& row : grid)
    for (auto& cell : row) sum += cell;
  return sum;
}

int recurse(int depth) {
  volatile char frame[1000];
  frame[0] = static_cast<char>(depth);
  return depth == 0 ? 0 : recurse(depth - 1) + frame[0];
}

[[maybe_unused]] void overflow(ClockKind clock, ContextRole role, const ContextName& of,
                               std::size_t stack_bytes = thread_stack_bytes) {
  Runtime runtime({.clock = clock, .stack_bytes = stack_bytes});
  runtime.run([&] { runtime.spawn(role, of, [] { recurse(1 << 30); }).join(); });
}

[[maybe_unused]] void say_mine(int) {
  [[maybe_unused]] const auto written = write(STDOUT_FILENO, "mine\n", 5);
  _exit(7);
}

}  // namespace

TEST_CASE("stack: double grid[200][200] fits on both clocks") {
  for (const ClockKind clock : {ClockKind::virtual_time, ClockKind::steady}) {
    Runtime runtime({.clock = clock});
    double sum = 0;
    runtime.run(
        [&] { runtime.spawn(ContextRole::thread, name, [&] { sum = sum_of_grid(); }).join(); });
    CHECK(sum == 40'000);
  }
}

// Does not run under sanitizers, which report stack overflows themselves.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("stack: an overflow names the context and its stack size and the option to change it") {
  struct Row {
    ContextRole role;
    ContextName of;
    std::size_t stack_bytes;
    const char* said;
  };
  const Row rows[] = {
      {ContextRole::thread, name, thread_stack_bytes,
       "stack overflow of thread alpha-0/3: its stack has 8 MiB; option --stack, config key "
       "`stack`\n"},
      {ContextRole::thread, name, 100 * 1024, "its stack has 100 KiB"},
      {ContextRole::service, service_name, thread_stack_bytes,
       "stack overflow of service beta-1/12: its stack has 256 KiB, as those of all services\n"}};
  for (const Row& row : rows)
    with_both_clocks([&](ClockKind clock) {
      const auto said =
          as_child(fmt::format("row {} clock {}", &row - rows, static_cast<int>(clock)),
                   [&] { overflow(clock, row.role, row.of, row.stack_bytes); });
      CHECK_THAT(said.text, Catch::Contains(row.said));
      CHECK(said.exit_code == ended_by(SIGSEGV));
    });
}

TEST_CASE("stack: stacks of services are reused across threads") {
  const auto mappings = [] {
    std::ifstream maps("/proc/self/maps");
    std::uint64_t count = 0;
    for (std::string line; std::getline(maps, line);) ++count;
    return count;
  };
  on_steady_clock([&](Runtime& runtime) {
    const auto serve = [&](int times) {
      for (int i = 0; i < times; ++i)
        runtime.spawn(ContextRole::service, {"service", "of", 0}, [] {}).join();
    };
    serve(10);
    const std::uint64_t before = mappings();
    serve(400);
    CHECK(mappings() < before + 20);  // the runtime maps 64 stacks at a time, each with a guard
  });
}

TEST_CASE("stack: a signal handler of the program runs after the report") {
  const auto said = as_child("chained", [] {
    struct sigaction mine {};
    mine.sa_handler = say_mine;
    mine.sa_flags = SA_ONSTACK;
    sigaction(SIGSEGV, &mine, nullptr);
    overflow(ClockKind::virtual_time, ContextRole::thread, name);
  });
  CHECK_THAT(said.text, Catch::Contains("stack overflow of thread alpha-0/3"));
  CHECK_THAT(said.text, Catch::Contains("mine\n"));
  CHECK(said.exit_code == 7);
}

TEST_CASE("stack: another invalid access is not reported as an overflow") {
  for (const ClockKind clock : {ClockKind::virtual_time, ClockKind::steady}) {
    const auto said = as_child(clock == ClockKind::steady ? "steady" : "virtual", [&] {
      Runtime runtime({.clock = clock});
      runtime.run([&] { runtime.spawn(ContextRole::thread, name, [] { raise(SIGSEGV); }).join(); });
    });
    CHECK_THAT(said.text, !Catch::Contains("stack overflow"));
    CHECK(said.exit_code == ended_by(SIGSEGV));
    const auto wild = as_child(clock == ClockKind::steady ? "wild steady" : "wild virtual", [&] {
      Runtime runtime({.clock = clock});
      runtime.run([&] {
        runtime
            .spawn(ContextRole::thread, name,
                   [] {
                     int* volatile nowhere = reinterpret_cast<int*>(64);
                     *nowhere = 1;
                   })
            .join();
      });
    });
    CHECK_THAT(wild.text, !Catch::Contains("stack overflow"));
    CHECK(wild.exit_code == ended_by(SIGSEGV));
  }
}
#endif

#if defined(__SANITIZE_ADDRESS__)
TEST_CASE("stack: an overflow report of the address sanitizer has its frames on both clocks") {
  for (const ClockKind clock : {ClockKind::virtual_time, ClockKind::steady}) {
    const auto said = as_child(clock == ClockKind::steady ? "steady" : "virtual",
                               [&] { overflow(clock, ContextRole::thread, name); });
    CHECK_THAT(said.text, Catch::Contains("ERROR: AddressSanitizer: "));
    CHECK_THAT(said.text, Catch::Contains("#200 ") && Catch::Contains(" in recurse"));
  }
}
#endif

// The thread sanitizer needs too much memory for tens of thousands of contexts.
TEST_CASE("stack: more contexts than the limit of guards run and a message reports it",
          "[without_tsan]") {
  const auto said = as_child("many", [] {
    Runtime runtime({.clock = ClockKind::virtual_time, .stack_bytes = 32 * 1024});
    std::uint32_t ran = 0;
    runtime.run([&] {
      std::vector<Task> tasks;
      for (int i = 0; i < 31'000; ++i)
        tasks.push_back(runtime.spawn(ContextRole::thread, name, [&] {
          runtime.sleep_for(std::chrono::milliseconds(1));
          ++ran;
        }));
      runtime.sleep_for(std::chrono::milliseconds(2));
    });
    fmt::print("{} ran\n", ran);
    std::fflush(stdout);
  });
  CHECK_THAT(said.text, Catch::Contains("contexts beyond number 30"));
  CHECK_THAT(said.text, Catch::Contains("31000 ran\n"));
  CHECK(said.exit_code == 0);
}
