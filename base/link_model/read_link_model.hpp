// SPDX-License-Identifier: Apache-2.0
// base/link_model/read_link_model.hpp — a link as the config writes it.
#pragma once
#include <optional>

#include "base/link_model/link.hpp"
#include "base/settings.hpp"

namespace tuning {

/// What a link's settings say: `latency`, `bandwidth`, `trace`. Mistakes go to the reader.
LinkModel read_link_model(base::MapReader& reader);
/// With `stream_rate` or `window`, and `streams`. A window passes once in a round trip: the link's
/// latency and that of the way back, the link's own if none is given.
Link read_link(base::MapReader& reader, std::optional<base::Nanos> latency_back);

}  // namespace tuning
