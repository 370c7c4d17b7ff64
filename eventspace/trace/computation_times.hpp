// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/computation_times.hpp — computation times of each thread, for a replay of the
// run.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "eventspace/trace/reader.hpp"

namespace eventspace {

/// Returns for each thread its computation times before its moves (contributions) on `graph`. The
/// outer list is indexed by rank. The times are in the order of the moves. A computation begins at
/// the end of the thread's previous operation, or at the begin of the thread, and ends at the begin
/// of the move. A computation is left out if the trace has lost its begin.
///
/// Units:  Nanoseconds.
/// Memory: Eight bytes for each computation.
/// Throws: std::runtime_error if a file cannot be read.
std::vector<std::vector<std::int64_t>> computation_times(const TraceDirectory& directory,
                                                         std::string_view graph);

}  // namespace eventspace
