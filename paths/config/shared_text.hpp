// SPDX-License-Identifier: Apache-2.0
// paths/config/shared_text.hpp — settings for elements in memory that several processes map.
#pragma once
#include "base/settings.hpp"
#include "paths/plan/plan.hpp"

namespace paths {

/// Reads the setting `shared` of an element, which is true, false, or a map of sizes. The default
/// is the setting `space` of the element's host.
/// Requires: all other settings of the element are read.
void read_shared(base::MapReader& reader, const Plan& plan, Plan::PlanElement& element);

/// Reads the setting `shared_spaces` of a config: which users are allowed to map shared elements,
/// and how long a process waits for the lock of such an element.
void read_shared_spaces(base::MapReader& reader, Plan& plan);

/// Sets, for each shared element, how many moves can wait for room in the element at the same time.
/// This number is large enough for all threads that may move into the element, and for some
/// programs outside the run.
/// Requires: all paths are read.
void give_movers_room(Plan& plan);

}  // namespace paths
