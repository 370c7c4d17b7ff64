// SPDX-License-Identifier: Apache-2.0
// tests/runtime/ends_test.cpp — ends of contexts: by cancellation, at the end of main, and if their
// code catches the cancellation.
#include <sys/resource.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "runtime/runtime.hpp"
#include "tests/runtime/contexts.hpp"
#include "tests/support/as_child.hpp"
#include "tests/support/clocks.hpp"

using namespace std::chrono_literals;
using namespace runtime;
using namespace test_support;

namespace {

/// An event that never happens, for contexts that wait forever.
struct Never {
  Mutex mutex;
  WaitList waiting;
  void wait() {
    Lock lock(mutex);
    for (;;) waiting.wait(lock, Deadline::never(), {"what never comes"});
  }
};

/// Limits the address space to its present size plus `more_bytes`. Not defined under sanitizers,
/// which need more address space.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void limit_address_space(std::size_t more_bytes) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = pages * 4096 + more_bytes;
  const rlimit limit{bytes, bytes};
  REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
}
#endif

}  // namespace

TEST_CASE("ends: catching every std::exception around a wait does not catch a cancel") {
  with_both_clocks([](ClockKind kind) {
    Never never;
    std::atomic<bool> went_on{false};
    Runtime runtime({.clock = kind});
    runtime.run([&] {
      auto task = runtime.spawn(ContextRole::thread, named(1), [&] {
        try {
          never.wait();
        } catch (const std::exception&) {
        }
        went_on = true;
      });
      runtime.sleep_for(1ms);
      task.cancel();
      task.join();
    });
    CHECK_FALSE(went_on);
  });
}

TEST_CASE("ends: catching every std::exception around a wait does not catch a deadlock") {
  Runtime runtime({.clock = ClockKind::virtual_time});
  Never never;
  bool went_on = false;
  CHECK_THROWS_AS(runtime.run([&] {
    try {
      never.wait();
    } catch (const std::exception&) {
    }
    went_on = true;
  }),
                  Deadlock);
  CHECK_FALSE(went_on);
}

TEST_CASE("ends: every wait after a cancel throws immediately") {
  with_both_clocks([](ClockKind kind) {
    Never never;
    std::atomic<int> thrown{0};
    Runtime runtime({.clock = kind});
    runtime.run([&] {
      auto task = runtime.spawn(ContextRole::thread, named(1), [&] {
        for (int i = 0; i < 100; ++i) try {
            i % 2 == 0 ? never.wait() : runtime.sleep_for(1h);
          } catch (const Cancelled&) {
            ++thrown;
          }
      });
      runtime.sleep_for(1ms);
      task.cancel();
      task.join();
    });
    CHECK(thrown == 100);
    if (kind == ClockKind::virtual_time) CHECK(runtime.now() == 1ms);
  });
}

TEST_CASE("ends: a cancelled context does not pass the cancel on to the next user of its fiber") {
  Runtime runtime({.clock = ClockKind::virtual_time});
  Never never;
  runtime.run([&] {
    auto first = runtime.spawn(ContextRole::thread, named(1), [&] { never.wait(); });
    runtime.sleep_for(1ms);
    first.cancel();
    first.join();
    auto second = runtime.spawn(ContextRole::thread, named(2), [&] { runtime.sleep_for(1ms); });
    second.join();
  });
  CHECK(runtime.now() == 2ms);
}

TEST_CASE("ends: run throws a deadlock even if a context caught it") {
  Runtime runtime({.clock = ClockKind::virtual_time});
  Never never;
  CHECK_THROWS_AS(runtime.run([&] {
    try {
      never.wait();
    } catch (...) {
    }
  }),
                  Deadlock);
}

TEST_CASE("ends: code that catches a deadlock and keeps waiting ends the process with a message") {
  const auto said = as_child("swallows", [] {
    Never never;
    on_virtual_clock([&](Runtime& runtime) {
      auto task = runtime.spawn(ContextRole::thread, named(3), [&] {
        for (;;) try {
            never.wait();
          } catch (...) {
          }
      });
      task.join();
    });
  });
  CHECK(said.exit_code == 1);
  CHECK_THAT(said.text, Catch::Contains("thread alpha-0/3 keeps waiting after it was stopped"));
  CHECK_THAT(said.text, Catch::Contains("thread alpha-0/3 waits for what never comes"));
}

TEST_CASE("ends: code that catches a cancel and keeps waiting ends the process on both clocks") {
  with_both_clocks([](ClockKind kind) {
    const auto said = as_child(kind == ClockKind::steady ? "steady" : "virtual", [&] {
      Runtime runtime({.clock = kind});
      Never never;
      std::atomic<bool> has_begun{false};  // the task must begin before it can be cancelled
      runtime.run([&] {
        Task task = runtime.spawn(ContextRole::thread, named(3), [&] {
          has_begun = true;
          for (;;) try {
              never.wait();
            } catch (...) {
            }
        });
        while (!has_begun) runtime.sleep_for(1ms);
      });
    });
    CHECK(said.exit_code == 1);
    CHECK_THAT(said.text, Catch::Contains("thread alpha-0/3 keeps waiting"));
  });
}

TEST_CASE("ends: contexts left by a main that threw are cancelled and joined") {
  with_both_clocks([](ClockKind kind) {
    for (const ContextRole role : {ContextRole::thread, ContextRole::service}) {
      Never never;
      std::atomic<int> begun{0}, ended{0};
      Runtime runtime({.clock = kind});
      CHECK_THROWS_WITH(runtime.run([&] {
        for (int i = 0; i < 3; ++i)
          runtime
              .spawn(role, named(1),
                     [&] {
                       const CountEnd counter{ended};
                       ++begun;
                       never.wait();
                     })
              .detach();
        while (begun < 3) runtime.sleep_for(1ms);
        throw std::runtime_error("main broke");
      }),
                        "main broke");
      CHECK(ended == 3);
    }
  });
}

TEST_CASE("ends: a context that has not begun when main ends never begins") {
  for (const bool throws : {false, true}) {
    Runtime runtime({.clock = ClockKind::virtual_time});
    bool begun = false;
    Task left;
    const auto run = [&] {
      runtime.run([&] {
        left = runtime.spawn(ContextRole::thread, named(1), [&] { begun = true; });
        if (throws) throw std::runtime_error("main broke");
      });
    };
    if (throws)
      CHECK_THROWS_WITH(run(), "main broke");
    else
      run();
    CHECK_FALSE(begun);
    CHECK(left.done());
  }
}

TEST_CASE("ends: a runtime can run again after a main that threw on both clocks") {
  with_both_clocks([](ClockKind kind) {
    Runtime runtime({.clock = kind});
    CHECK_THROWS_WITH(runtime.run([] { throw std::runtime_error("main broke"); }), "main broke");
    std::atomic<int> ran{0};
    runtime.run([&] {
      for (const ContextRole role : {ContextRole::thread, ContextRole::service})
        runtime.spawn(role, named(1), [&] { ++ran; }).join();
    });
    CHECK(ran == 2);
  });
}

TEST_CASE("ends: a destructor run by an ending thread may start another thread") {
  std::atomic<int> ran{0};
  struct StartsAnother {
    Runtime& runtime;
    std::atomic<int>& ran;
    ~StartsAnother() {
      runtime.spawn(ContextRole::thread, named(2), [&count = ran] { ++count; }).detach();
    }
  };
  on_steady_clock([&](Runtime& runtime) {
    for (int i = 0; i < 20; ++i) {
      const auto starts = std::make_shared<StartsAnother>(runtime, ran);
      runtime.spawn(ContextRole::thread, named(1), [starts] {}).detach();
    }
    while (ran < 20) runtime.sleep_for(1ms);
  });
  CHECK(ran == 20);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("ends: failure to create an OS thread is an error and earlier threads end") {
  const auto said = as_child("steady", [] {
    std::atomic<int> begun{0}, ended{0};
    Never never;
    Runtime runtime;
    limit_address_space(100 << 20);
    try {
      runtime.run([&] {
        for (int i = 0; i < 1000; ++i)
          runtime
              .spawn(ContextRole::thread, named(1),
                     [&] {
                       ++begun;
                       const CountEnd counter{ended};
                       never.wait();
                     })
              .detach();
      });
    } catch (const std::exception& error) {
      fmt::print("{}\nall ended: {}\n", error.what(), begun == ended);
    }
    std::fflush(stdout);
  });
  CHECK(said.exit_code == 0);
  CHECK_THAT(said.text, Catch::Contains("cannot create an OS thread with a stack of 8MiB: "
                                        "Resource temporarily unavailable; see ulimit -u"));
  CHECK_THAT(said.text, Catch::Contains("all ended: true"));
}

TEST_CASE("ends: failure to allocate a fiber's stack is an error and earlier fibers end") {
  const auto said = as_child("virtual", [] {
    int ended = 0, begun = 0;
    Never never;
    Runtime runtime({.clock = ClockKind::virtual_time});
    limit_address_space(100 << 20);
    try {
      runtime.run([&] {
        std::vector<Task> tasks;
        for (int i = 0; i < 1000; ++i) {
          tasks.push_back(runtime.spawn(ContextRole::thread, named(1), [&] {
            ++begun;
            try {
              never.wait();
            } catch (const Cancelled&) {
              ++ended;
            }
          }));
          runtime.sleep_for(1ms);
        }
      });
    } catch (const std::exception& error) {
      fmt::print("{}\nall ended: {}\n", error.what(), begun > 0 && begun == ended);
    }
    std::fflush(stdout);
  });
  CHECK(said.exit_code == 0);
  CHECK_THAT(said.text, Catch::Contains("cannot allocate a stack of 8MiB: Cannot allocate memory"));
  CHECK_THAT(said.text, Catch::Contains("all ended: true"));
}
#endif
