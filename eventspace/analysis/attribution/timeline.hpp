// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/timeline.hpp — the course of a run in time.
#pragma once
#include <cstddef>

#include "eventspace/analysis/attribution/bindings.hpp"
#include "eventspace/analysis/report/report.hpp"

namespace eventspace {

/// The most steps of the critical path that a timeline has of the whole run.
inline constexpr std::size_t timeline_steps = 100'000;
/// The most iterations of which a timeline has the ends. In a longer run it has every second end,
/// or every third, and so on.
inline constexpr std::size_t timeline_iterations = 20'000;

/// Returns the course of a run: the critical path, and what each thread did in some iterations.
/// These are the iterations of findings, the longest ones, and the first ones of the run.
///
/// Requires: report.time and report.findings.
/// Memory:   at most `parts` parts of threads' time, whatever the length of the run.
TimelineReport timeline_of(const Bindings& bindings, const Report& report, std::size_t parts);

}  // namespace eventspace
