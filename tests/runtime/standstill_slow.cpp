// SPDX-License-Identifier: Apache-2.0
// tests/runtime/standstill_slow.cpp — contexts that run although virtual time does not advance,
// until a deadlock is reported.
#include <catch2/catch.hpp>

#include "runtime/runtime.hpp"

using namespace runtime;

TEST_CASE("standstill: threads that run twenty million times without time passing are a deadlock") {
  Runtime runtime({.clock = ClockKind::virtual_time});
  CHECK_THROWS_WITH(
      runtime.run([&] {
        for (;;) runtime.spawn(ContextRole::thread, {"thread", "alpha-0", 1}, [] {}).join();
      }),
      Catch::StartsWith("deadlock at 0ns: time stands still") && Catch::Contains("\n  main: 1"));
}
