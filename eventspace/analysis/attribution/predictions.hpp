// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/predictions.hpp — predictions of a run after changes.
#pragma once
#include <cstdint>

#include "eventspace/analysis/attribution/bindings.hpp"
#include "eventspace/analysis/report/predictions.hpp"
#include "eventspace/analysis/report/report.hpp"

namespace eventspace {

/// Maximum number of moments in a run for which predictions are made. Predictions for more moments
/// would need too much memory.
inline constexpr std::uint32_t predicted_moments_max = 12'000'000;

/// Adds predictions to a report: costs and order of its findings (costs.hpp), the effect of a small
/// change of the headline's cause, and answers to the questions.
///
/// Predicts nothing if hosts have no common clock, or if the trace has more than
/// predicted_moments_max moments. Without predictions, the costs of findings remain estimates: a
/// difference of times multiplied by a number of rounds.
/// Throws: ConfigError if a question names an object that the run does not have, or if there are
///         questions but nothing can be predicted.
void predict(const Bindings& bindings, const Questions& questions, Report& report);

}  // namespace eventspace
