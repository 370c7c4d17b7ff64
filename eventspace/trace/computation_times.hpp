// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/computation_times.hpp — how long each thread of a run computed, to do it again.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "eventspace/trace/reader.hpp"

namespace eventspace {

/// By rank of the thread, in nanoseconds: from the end of a thread's operation before, or from its
/// begin, to each of its moves on `graph`, in their order. A computation whose begin the trace has
/// lost is left out.
///
/// Memory: all of it, eight bytes each.
/// Throws: std::runtime_error when a file cannot be read.
std::vector<std::vector<std::int64_t>> computation_times(const TraceDirectory& directory,
                                                         std::string_view graph);

}  // namespace eventspace
