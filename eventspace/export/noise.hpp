// SPDX-License-Identifier: Apache-2.0
// eventspace/export/noise.hpp — export of threads' noise for noise simulators.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "eventspace/export/records.hpp"

namespace eventspace {

/// Writes lines "start_ns<tab>duration_ns", one line for each computation that takes longer than
/// usual. The usual time is the median of the thread's computations before the same collective. The
/// duration is the excess over the median, and the start is the begin of the computation. The last
/// line has the duration 0. Its start is the end of the last computation, at which a replay begins
/// again.
///
/// With `rank`, only the noise of that thread is written. Time 0 is then the begin of the thread's
/// first computation after an operation. Without `rank`, the noise of all threads is written, one
/// thread after another. A replay from any position in the file then uses the noise of some thread.
///
/// Throws: std::runtime_error that names the file, for example if the file exists. Also throws if
///         the trace has no computations of the written threads.
Exported export_noise(const TraceDirectory& trace, const std::filesystem::path& file,
                      std::optional<std::uint32_t> rank = std::nullopt);

}  // namespace eventspace
