// SPDX-License-Identifier: Apache-2.0
// bench/support/common_clock.cpp — UTC of a machine, and waits for times of other hosts
#include "bench/support/common_clock.hpp"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>

#include "paths/host/host.hpp"

namespace bench {

base::Nanos common_clock(const paths::Thread& thread) {
  const runtime::Runtime& runtime = thread.host().runtime();
  return runtime.is_virtual() ? runtime.now() : runtime.utc_at_zero() + runtime.now();
}

void sleep_until_common(paths::Thread& thread, base::Nanos moment) {
  constexpr base::Nanos far = std::chrono::minutes(1);
  const base::Nanos left = moment - common_clock(thread);
  const bool is_virtual = thread.host().runtime().is_virtual();
  if (!is_virtual && (left > far || left < -far))
    throw std::runtime_error(fmt::format(
        "host {}: the clocks of the hosts differ by about {}, so that they cannot begin together; "
        "expected UTC to be the same on all machines, as NTP keeps it",
        thread.host().name(), base::format_time(left < base::Nanos(0) ? -left : left)));
  if (left > base::Nanos(0)) thread.sleep_for(left);
}

}  // namespace bench
