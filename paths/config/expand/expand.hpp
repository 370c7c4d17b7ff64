// SPDX-License-Identifier: Apache-2.0
// paths/config/expand/expand.hpp — expansion of the high-level config into the low-level config.
#pragma once
#include "base/settings.hpp"
#include "paths/config/config.hpp"
#include "paths/config/expansion.hpp"

namespace paths {

/// Returns whether the config is high-level: it has at least one of the keys `clusters`, `links`,
/// `collectives` and `exchanges`.
bool is_high_level(const base::Settings& settings);

/// Returns the low-level config that a high-level config stands for. Each generated item has the
/// position of the text from which it was generated. If the config has mistakes, the result is
/// partial, and only serves to find further mistakes.
Expansion expand(const base::Settings& settings, const WrapperKinds& kinds,
                 const Overrides& overrides, base::Mistakes& mistakes);

}  // namespace paths
