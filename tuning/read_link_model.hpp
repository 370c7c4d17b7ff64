// SPDX-License-Identifier: Apache-2.0
// tuning/read_link_model.hpp — a link as the config writes it.
#pragma once
#include "base/settings.hpp"
#include "tuning/link_model.hpp"

namespace tuning {

/// What a link's settings say: `latency`, `bandwidth`, `trace`. Mistakes go to the reader.
LinkModel read_link_model(base::MapReader& reader);

}  // namespace tuning
