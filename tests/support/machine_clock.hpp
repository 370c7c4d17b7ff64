// SPDX-License-Identifier: Apache-2.0
// tests/support/machine_clock.hpp — clock of this machine.
#pragma once
#include <time.h>

#include <cstdint>

namespace test_support {

/// Returns the time of a clock that all processes of the machine share.
inline std::int64_t machine_nanos() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);  // tidy: real time
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

}  // namespace test_support
