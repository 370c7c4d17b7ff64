// SPDX-License-Identifier: Apache-2.0
// tests/runtime/yield_test.cpp — services that let other services run.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "runtime/runtime.hpp"
#include "tests/support/clocks.hpp"

using runtime::ContextRole;
using runtime::Runtime;

TEST_CASE("yield: ready services and arrivals run before a service continues") {
  std::vector<std::string> order;  // used only by the services' OS thread
  test_support::on_steady_clock([&](Runtime& runtime) {
    auto first = runtime.spawn(ContextRole::service, {"first"}, [&] {
      auto second = runtime.spawn(ContextRole::service, {"second"}, [&] {
        order.emplace_back("second begins");
        runtime::yield_to_services();
        order.emplace_back("second goes on");
      });
      runtime.wake_from_outside([&] { order.emplace_back("arrival"); });
      order.emplace_back("first works");
      runtime::yield_to_services();
      order.emplace_back("first goes on");
      second.join();
    });
    first.join();
  });
  REQUIRE(order.size() == 5);
  CHECK(order.front() == "first works");
  const auto place = [&](const std::string& what) {
    return std::find(order.begin(), order.end(), what) - order.begin();
  };
  CHECK(place("second begins") < place("first goes on"));
  CHECK(place("arrival") < place("first goes on"));
}

TEST_CASE("yield: a cancelled service does not wait and a later wait still ends") {
  int yields = 0;
  bool has_ended = false;
  test_support::on_steady_clock([&](Runtime& runtime) {
    runtime::Task task = runtime.spawn(ContextRole::service, {"folding"}, [&] {
      for (; yields < 1000; ++yields) runtime::yield_to_services();
      try {
        runtime.sleep_for(std::chrono::hours(1));
      } catch (const runtime::Stop&) {
        has_ended = true;
        throw;
      }
    });
    task.cancel();
    task.join();
  });
  // A task that is cancelled before it begins yields 0 times and does not set `has_ended`.
  CHECK((yields == 1000) == has_ended);
}

TEST_CASE("yield: a thread and a callback and the virtual clock continue immediately") {
  for (const auto clock : {runtime::ClockKind::steady, runtime::ClockKind::virtual_time}) {
    Runtime runtime({.clock = clock});
    runtime.run([&] {
      runtime::yield_to_services();
      const std::uint64_t before = runtime.is_virtual() ? runtime.events() : 0;
      runtime::yield_to_services();
      if (runtime.is_virtual()) CHECK(runtime.events() == before);
      bool is_through = false;
      runtime
          .spawn(ContextRole::thread, {"thread"},
                 [&] {
                   runtime.wake_from_outside([] { runtime::yield_to_services(); });
                   runtime::yield_to_services();
                   is_through = true;
                 })
          .join();
      CHECK(is_through);
    });
  }
}
