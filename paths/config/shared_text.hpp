// SPDX-License-Identifier: Apache-2.0
// paths/config/shared_text.hpp — what a config says of elements in memory that processes share.
#pragma once
#include "base/settings.hpp"
#include "paths/plan/plan.hpp"

namespace paths {

/// The setting `shared` of an element, all else of which is read: true, false, or how much memory
/// it takes. Without it, it is as its host's `space` says.
void read_shared(base::MapReader& reader, const Plan& plan, Plan::PlanElement& element);

/// The setting `shared_spaces` of a config: who may map them, and how long one may hold them.
void read_shared_spaces(base::MapReader& reader, Plan& plan);

/// Once all paths are read: whoever may move has a place where he waits for room, and programs that
/// are no part of the run have some, too.
void give_movers_room(Plan& plan);

}  // namespace paths
