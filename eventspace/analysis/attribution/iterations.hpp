// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/iterations.hpp — the iterations of a run.
#pragma once
#include "eventspace/analysis/attribution/moments.hpp"
#include "eventspace/analysis/report/time_report.hpp"

namespace eventspace {

/// Iterations are cut at the ends of one of the program's operations. Each thread must do that
/// operation at least this many times; otherwise no iterations are found.
inline constexpr std::size_t cuts_least = 4;
/// An iteration may contain several cuts. The number of cuts n is taken as the period if at least
/// this share of the sections between cuts equals the section n cuts later.
inline constexpr double repeated_share = 0.9;
/// Maximum number of cuts in one iteration.
inline constexpr std::size_t cuts_in_iteration_max = 64;

/// Finds the iterations of a run. The first of these rules that applies decides where iterations
/// end:
///
/// - At the marks that threads set, if all threads that set marks set equally many.
/// - At the collective that all threads call equally often. If there are several, at the one that
///   is called most often, and of these at the last one in the order of the program.
/// - At the operation on elements that is called most often, by any threads, but by each of them
///   equally often.
///
/// Two threads that differ by one call count as equal. begin_nanos, end_nanos: begin and end of the
/// run.
IterationReport find_iterations(const Moments& moments, std::int64_t begin_nanos,
                                std::int64_t end_nanos);

}  // namespace eventspace
