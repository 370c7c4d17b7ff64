// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/diagnosis/changes.hpp — detection of changes and stalls during a run.
#pragma once
#include <vector>

#include "eventspace/analysis/diagnosis/findings.hpp"

namespace eventspace {

/// Compares the levels of threads and links that took longer in one part of the run than in
/// another. Threads that changed alike at the same time are one finding. Removes findings of noise
/// and of slowness that a change explains.
void compare_levels(FindingSearch& search);
/// Finds threads that computed much longer than usual, too few times to be noise. Threads of a host
/// that did so at the same time are one finding.
void find_stalls(const FindingSearch& search, std::vector<Finding>& found);

}  // namespace eventspace
