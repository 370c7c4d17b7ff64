// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/timeline.hpp — timeline of a run.
#pragma once
#include <cstddef>

#include "eventspace/analysis/attribution/bindings.hpp"
#include "eventspace/analysis/report/report.hpp"

namespace eventspace {

/// Maximum number of steps of the critical path in a timeline. If the path is longer, the timeline
/// has only the steps within the iterations that it keeps.
inline constexpr std::size_t timeline_steps = 100'000;
/// Maximum number of iteration ends in a timeline. If the run has more iterations, the timeline has
/// only every second end, or every third end, and so on.
inline constexpr std::size_t timeline_iterations = 20'000;

/// Returns the timeline of a run: the critical path, and what each thread did in some iterations.
/// The timeline keeps the iterations in which findings occur, the longest iterations, and the first
/// iterations of the run.
///
/// Requires: report.time and report.findings are complete.
/// Memory:   at most `parts` parts of threads' time, independent of the length of the run.
TimelineReport timeline_of(const Bindings& bindings, const Report& report, std::size_t parts);

}  // namespace eventspace
