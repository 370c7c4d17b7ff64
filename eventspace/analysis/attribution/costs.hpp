// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/costs.hpp — costs of findings, and effect of a small change of
// the headline's cause.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eventspace/analysis/attribution/predictor.hpp"
#include "eventspace/analysis/report/report.hpp"

namespace eventspace {

/// Returns the change by which the Predictor removes a finding from the run. Returns nullopt if the
/// run without the finding cannot be predicted.
std::optional<Change> change_without(const Finding& finding, const Predictor& predictor);

/// Sets the cost of each finding: the predicted time by which the run would have been shorter
/// without the finding.
///
/// Sorts the findings. The first finding is the one whose removal shortens the run most. The second
/// is the one whose removal then shortens the remaining run most, and so on. Findings whose cost
/// cannot be predicted follow, and then the hidden findings (Finding::is_hidden). Removes findings
/// that cost too little to be named (costs_enough()).
void predict_costs(const Predictor& predictor, Report& report);

/// Returns a sentence that tells how a small change of the headline's cause, such as 1 ms less
/// latency, would change the run's time. Returns "" if the effect is not known.
std::string sensitivity_of_headline(const Predictor& predictor, const TimeReport& time);

}  // namespace eventspace
