// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/iterations.hpp — the iterations of a run.
#pragma once
#include "eventspace/analysis/attribution/moments.hpp"
#include "eventspace/analysis/report/time_report.hpp"

namespace eventspace {

/// Iterations are found only if each thread does the operation at which they are cut at least this
/// often.
inline constexpr std::size_t cuts_least = 4;
/// Share of the stretches between two cuts that must repeat after a period.
inline constexpr double repeated_share = 0.9;
/// Largest number of operations in one iteration at which iterations are cut.
inline constexpr std::size_t cuts_in_iteration_max = 64;

/// Finds the iterations of a run. They are cut where threads mark the ends of iterations, if all
/// that mark any do it equally often. Otherwise they are cut at the collective that all threads
/// call equally often, and most often; if there are several, at the last one in the order of the
/// program. In a program without such a collective they are cut at the operation on elements that
/// some threads do most often, and equally often. A difference of one call does not matter.
///
/// begin_nanos, end_nanos: begin and end of the run.
IterationReport find_iterations(const Moments& moments, std::int64_t begin_nanos,
                                std::int64_t end_nanos);

}  // namespace eventspace
