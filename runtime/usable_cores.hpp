// SPDX-License-Identifier: Apache-2.0
// runtime/usable_cores.hpp — number of cores of this process
#pragma once

namespace runtime {

/// Returns the number of cores on which threads of this process may run; at least 1. Any thread may
/// call this function.
int usable_cores();

}  // namespace runtime
