// SPDX-License-Identifier: Apache-2.0
// runtime/usable_cores.cpp — the affinity mask of this process
#include "runtime/usable_cores.hpp"

#include <sched.h>

#include <algorithm>

namespace runtime {

int usable_cores() {
  cpu_set_t set;
  static const int cores =
      sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
  return cores;
}

}  // namespace runtime
