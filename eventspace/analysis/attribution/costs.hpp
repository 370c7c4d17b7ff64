// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/costs.hpp — what findings cost, and what changes would do to the
// run.
#pragma once
#include "eventspace/analysis/attribution/bindings.hpp"
#include "eventspace/analysis/report/report.hpp"

namespace eventspace {

/// Most moments with which costs are predicted. A longer trace needs too much memory.
inline constexpr std::uint32_t predicted_moments_max = 12'000'000;

/// Predicts how long the run would have taken without each finding, and sets the findings' costs.
/// Sorts the findings: first the one without which the run is shortest, then the one without which
/// it is shortest if the first is gone too, and so on. Adds to the headline what a small change
/// would do.
///
/// Does nothing if hosts have no common clock, or if the trace has more than
/// predicted_moments_max moments. The findings then keep their costs: a difference by a number of
/// rounds.
void predict_costs(const Bindings& bindings, Report& report);

}  // namespace eventspace
