// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/expand.hpp — the high level of the config, written out as the low level.
#pragma once
#include "base/settings.hpp"
#include "paths/config/config.hpp"
#include "paths/config/expansion.hpp"

namespace paths {

/// Whether the config speaks of clusters and collectives.
bool is_high_level(const base::Settings& settings);

/// The low level that the high level stands for; what it makes has the position of what it was
/// made from. Nothing to use when there were mistakes.
Expansion expand(const base::Settings& settings, const WrapperKinds& kinds,
                 const Overrides& overrides, base::Mistakes& mistakes);

}  // namespace paths
