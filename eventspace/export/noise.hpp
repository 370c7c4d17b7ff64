// SPDX-License-Identifier: Apache-2.0
// eventspace/export/noise.hpp — what kept threads from computing, as noise simulators read it.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "eventspace/export/intervals.hpp"

namespace eventspace {

/// Writes lines "start_ns<tab>duration_ns": what each computation between two operations of a
/// thread took longer than the median of those before the same collective, at the computation's
/// start. A last line with duration 0 says when the last one ended, so that a replay begins again
/// there.
///
/// One thread's, whose first such computation begins at time 0; or those of all threads, one behind
/// another, so that a replay which begins anywhere in the file meets the noise of some thread.
///
/// Throws: std::runtime_error, naming the file; when there is one of that name already; when the
///         trace has no computations of that thread, or of any.
Exported export_noise(const TraceDirectory& trace, const std::filesystem::path& file,
                      std::optional<std::uint32_t> rank = std::nullopt);

}  // namespace eventspace
