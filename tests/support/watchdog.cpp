// SPDX-License-Identifier: Apache-2.0
// tests/support/watchdog.cpp — watchdog that reports virtual runs without progress, in every test
// program.
#include "runtime/scheduler/watchdog.hpp"

#include <chrono>

namespace {

[[maybe_unused]] const bool is_watched = [] {
  runtime::watch_virtual_runs(std::chrono::seconds(10));
  return true;
}();

}  // namespace
