// SPDX-License-Identifier: Apache-2.0
// base/link_model/read_link_model.hpp — links read from config settings
#pragma once
#include <optional>

#include "base/link_model/link.hpp"
#include "base/settings.hpp"

namespace tuning {

/// Reads `latency`, `bandwidth` and `trace`. Adds mistakes to the reader.
LinkModel read_link_model(base::MapReader& reader);
/// Reads the keys of read_link_model(), and also `stream_rate` or `window`, and `streams`. A window
/// sets the rate of a stream to one window per round trip. The time of a round trip is the latency
/// of this link plus `latency_back`, the latency in the other direction (nullopt = the same).
Link read_link(base::MapReader& reader, std::optional<base::Nanos> latency_back);

}  // namespace tuning
