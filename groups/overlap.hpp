// SPDX-License-Identifier: Apache-2.0
// groups/overlap.hpp — detection of arrays of different members that overlap.
#pragma once
#include <string>

#include "groups/calls/call.hpp"
#include "groups/group_view.hpp"

namespace groups {

/// Returns an error text if the `out` array of a member overlaps an array of another member of this
/// host; otherwise "". Relies on earlier checks that the arrays of one member are identical or do
/// not overlap.
std::string overlap_text(const GroupView& view, const Calls& calls);

}  // namespace groups
