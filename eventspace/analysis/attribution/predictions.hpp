// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/predictions.hpp — other forms of a run.
#pragma once
#include <cstdint>

#include "eventspace/analysis/attribution/bindings.hpp"
#include "eventspace/analysis/report/predictions.hpp"
#include "eventspace/analysis/report/report.hpp"

namespace eventspace {

/// Most moments with which a run is predicted. A longer trace needs too much memory.
inline constexpr std::uint32_t predicted_moments_max = 12'000'000;

/// Adds predictions to a report: costs and order of its findings (costs.hpp), the effect of a small
/// change of the headline's part, and answers to the questions.
///
/// Does nothing if hosts have no common clock, or if the trace has more than
/// predicted_moments_max moments. The findings then keep their costs: a difference by a number of
/// rounds.
/// Throws: ConfigError if a question names something that the run does not have, or if it has an
///         answer only by a prediction, and nothing is predicted.
void predict(const Bindings& bindings, const Questions& questions, Report& report);

}  // namespace eventspace
