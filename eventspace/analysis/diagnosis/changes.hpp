// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/diagnosis/changes.hpp — detection of changes and stalls during a run.
#pragma once
#include <vector>

#include "eventspace/analysis/diagnosis/findings.hpp"

namespace eventspace {

/// Finds threads and links whose times were longer in one part of the run than in the part before
/// or after it. Threads whose times changed by a similar factor at the same time are one finding.
/// Marks noise that such a change explains (FindingSearch::note_change()). Call before noise is
/// compared. Returns a function that removes the findings of slowness that such a change explains.
/// The caller registers it after all functions that add such findings.
FindingSearch::AddFindings compare_levels(FindingSearch& search);
/// Finds threads that computed much longer than usual, but too few times for this to be noise.
/// Threads that did so at the same time are one finding. If the hosts have no common clock, only
/// threads of the same host are combined.
void find_stalls(const FindingSearch& search, std::vector<Finding>& found);

}  // namespace eventspace
