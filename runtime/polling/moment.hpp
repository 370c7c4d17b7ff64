// SPDX-License-Identifier: Apache-2.0
// runtime/polling/moment.hpp — the steady clock, and polling for about two microseconds
#pragma once
#include <ctime>

#include "base/units.hpp"

namespace runtime {

/// Hints to the core that the caller is polling.
void pause_core();
/// Returns the time of the machine's steady clock, which differs from Runtime::now().
base::Nanos steady_now();
constexpr timespec timespec_of(base::Nanos span) {
  return {span.count() / 1'000'000'000, span.count() % 1'000'000'000};
}

/// Calls `still` repeatedly for about 2 us, and returns whether it was true each time.
/// Why: a polling thread interrupts its polling for about 2 us between two of its waits. A caller
///   that is about to wake such a thread first calls this function. The thread often polls again
///   within that time, and then needs no wake-up.
/// Thread-safe: yes.
template <class Still>
bool for_a_moment(const Still& still) {
  constexpr base::Nanos moment{2'000};
  const base::Nanos end = steady_now() + moment;
  do {
    if (!still()) return false;
    pause_core();
  } while (steady_now() < end);
  return still();
}

}  // namespace runtime
