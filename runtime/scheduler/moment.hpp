// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/moment.hpp — the steady clock, and polling for about two microseconds
#pragma once
#include <ctime>

#include "base/units.hpp"

namespace runtime {

/// Hints to the core that the caller is polling.
void pause_core();
/// Returns the machine's steady clock, not a runtime's.
base::Nanos steady_now();
constexpr timespec timespec_of(base::Nanos span) {
  return {span.count() / 1'000'000'000, span.count() % 1'000'000'000};
}

/// Calls `still` repeatedly, for about the time that a polling thread needs from the end of one
/// wait to its next. A caller uses this function when a thread is not polling at the moment: if the
/// thread polls again within that time, the caller need not wake it. Returns whether `still` was
/// true until the end.
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
