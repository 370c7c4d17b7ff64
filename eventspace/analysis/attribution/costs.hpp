// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/attribution/costs.hpp — what findings cost, and how the headline's part of
// the run depends on its cause.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eventspace/analysis/attribution/predictor.hpp"
#include "eventspace/analysis/report/report.hpp"

namespace eventspace {

/// Returns the change that removes a finding, or nothing if it cannot be predicted.
std::optional<Change> change_without(const Finding& finding, const Predictor& predictor);

/// Predicts how long the run would have taken without each finding, and sets the findings' costs.
/// Sorts the findings: first the one without which the run is shortest, then the one without which
/// it is shortest if the first is gone too, and so on.
void predict_costs(const Predictor& predictor, std::vector<Finding>& findings);

/// Returns what a small change of the headline's part of the critical path would do; "" if it is
/// not known.
std::string sensitivity_of_headline(const Predictor& predictor, const TimeReport& time);

}  // namespace eventspace
