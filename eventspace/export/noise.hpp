// SPDX-License-Identifier: Apache-2.0
// eventspace/export/noise.hpp — export of threads' noise for noise simulators.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "eventspace/export/records.hpp"

namespace eventspace {

/// Writes lines "start_ns<tab>duration_ns", one for each computation that takes longer than usual.
/// The usual time is the median of the thread's computations before the same collective. The
/// duration is the excess over the median, and the start is the begin of the computation. The last
/// line has duration 0 and, as its start, the end of the last computation: the time at which a
/// replay begins again.
///
/// With `rank`, only that thread is written, and its first computation after an operation begins at
/// time 0. Without it, all threads are written one after another, so that a replay from any
/// position in the file uses the noise of some thread.
///
/// Throws: std::runtime_error that names the file, for example if the file exists. Also thrown if
///         the trace has no computations of the thread `rank`, or of any thread without `rank`.
Exported export_noise(const TraceDirectory& trace, const std::filesystem::path& file,
                      std::optional<std::uint32_t> rank = std::nullopt);

}  // namespace eventspace
