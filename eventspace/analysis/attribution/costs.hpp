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

/// Returns the change of the run that would remove a finding, for the Predictor; nullopt if the run
/// without the finding cannot be predicted.
std::optional<Change> change_without(const Finding& finding, const Predictor& predictor);

/// Sets the cost of each finding: the time by which the run would have been shorter without it, as
/// predicted. Sorts the findings: first the one whose removal shortens the run most, then the one
/// whose removal shortens the remaining run most, and so on. Findings whose cost cannot be
/// predicted follow, and then the hidden ones. Removes the findings that do not cost enough.
void predict_costs(const Predictor& predictor, Report& report);

/// Returns a sentence on the effect of a small change of the headline's cause, such as 1 ms less
/// latency, on the run's time. Returns "" if the effect is not known.
std::string sensitivity_of_headline(const Predictor& predictor, const TimeReport& time);

}  // namespace eventspace
