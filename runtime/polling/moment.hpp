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
/// Why: between two of its waits, a polling thread does not poll for about that time. Before a
///   caller wakes such a thread, it calls this function: the thread may poll again without a
///   wake-up.
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
