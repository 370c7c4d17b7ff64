// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/iterations.hpp — the iterations of a run.
#pragma once
#include "eventspace/analysis/attribution/moments.hpp"
#include "eventspace/analysis/report/time_report.hpp"

namespace eventspace {

/// Condition for an operation to end iterations (a cut): each thread that does the operation does
/// it at least this often.
inline constexpr std::size_t cuts_least = 4;
/// Condition for n cuts to count as one iteration: at least this share of the sections between cuts
/// equal the section n cuts later.
inline constexpr double repeated_share = 0.9;
/// Maximum number of cuts in one iteration.
inline constexpr std::size_t cuts_in_iteration_max = 64;

/// Finds the iterations of a run. The first of these rules that applies decides where iterations
/// end:
///
/// - At the marks that threads set, if all threads with marks have equally many marks.
/// - At the collective that all threads call equally often. If there are several such collectives,
///   at the one with the most calls. If several have the most calls, at the last of them in the
///   order of the program.
/// - At the operation on elements that is called most often. Some threads need not call it, but all
///   threads that call it must do so equally often.
///
/// Numbers of calls that differ by 1 count as equal. `begin_nanos` and `end_nanos` are the begin
/// and end of the run.
IterationReport find_iterations(const Moments& moments, std::int64_t begin_nanos,
                                std::int64_t end_nanos);

}  // namespace eventspace
