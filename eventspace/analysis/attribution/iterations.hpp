// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/iterations.hpp — the iterations of a run.
#pragma once
#include "eventspace/analysis/attribution/moments.hpp"
#include "eventspace/analysis/report/time_report.hpp"

namespace eventspace {

/// Least number of times that each thread must do the operation whose ends are the cuts between
/// iterations. With fewer, no iterations are found.
inline constexpr std::size_t cuts_least = 4;
/// An iteration may have several cuts. A number of cuts counts as the period if at least this share
/// of the sections between cuts equals the section one period later.
inline constexpr double repeated_share = 0.9;
/// Largest such period: maximum number of cuts in one iteration.
inline constexpr std::size_t cuts_in_iteration_max = 64;

/// Finds the iterations of a run. The first rule that applies decides where they end:
///
/// - At the marks that threads set, if all threads that set marks set equally many.
/// - At the collective that all threads call equally often. If there are several, at the one that
///   is called most often, and of these at the last one in the order of the program.
/// - At the operation on elements that is called most often, by any threads, but by each of them
///   equally often.
///
/// A difference of one call does not matter. begin_nanos, end_nanos: begin and end of the run.
IterationReport find_iterations(const Moments& moments, std::int64_t begin_nanos,
                                std::int64_t end_nanos);

}  // namespace eventspace
