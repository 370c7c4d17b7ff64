// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/computation_times.hpp — computation times of each thread, for a replay of the
// run.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "eventspace/trace/reader.hpp"

namespace eventspace {

/// Returns the computation times of each thread before its moves (contributions) on `graph`,
/// indexed by rank, in the order of the moves. A computation begins at the end of the thread's
/// previous operation, or at the begin of the thread, and ends at the begin of the move.
/// Computations whose begin the trace has lost are left out.
///
/// Units:  Nanoseconds.
/// Memory: Eight bytes for each computation.
/// Throws: std::runtime_error if a file cannot be read.
std::vector<std::vector<std::int64_t>> computation_times(const TraceDirectory& directory,
                                                         std::string_view graph);

}  // namespace eventspace
