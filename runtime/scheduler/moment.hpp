// SPDX-License-Identifier: Apache-2.0
// runtime/scheduler/moment.hpp — looking for so short a time that nothing else is worth doing
// meanwhile.
#pragma once
#include "base/units.hpp"

namespace runtime {

/// Tells the core that the caller only looks.
void pause_core();
/// The steady clock as it is, not a runtime's.
base::Nanos steady_now();

/// Looks while `still` is true, for as long as a thread takes from the end of a wait to its next:
/// who would wake another that is about to look anyway spares both of them the wake.
/// True when it is so to the end.
///
/// Sharing: any thread.
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
