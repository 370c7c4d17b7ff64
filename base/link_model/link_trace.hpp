// SPDX-License-Identifier: Apache-2.0
// base/link_model/link_trace.hpp — parser for the recorded behaviour of a link
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/link_model/link_model.hpp"
#include "base/settings.hpp"

namespace tuning {

/// Reads a trace. A trace has one line for each change of the link. Blank lines and text after a #
/// are ignored:
///
///     # seconds from the start, one-way latency in ms, bandwidth in Mbit/s
///     0.0   9.1   100
///     0.5  12.75
///
/// If the trace begins with the line `round_trip`, its latencies are times of round trips, as the
/// program ping reports them. Each one-way latency is then half the time of the round trip. Half is
/// the best estimate for two machines without a common clock. The first line must be for second 0.
/// A line without bandwidth gets `bits_per_second`. The values of the last line apply for as long
/// as the values of the line before; then the trace repeats. If the trace has only one line, the
/// values of this line apply for ever. Each mistake names the trace and the line. Returns nullopt
/// if there are any mistakes.
std::optional<LinkModel> parse_link_trace(std::string_view text, const std::string& name,
                                          double bits_per_second, base::Mistakes& mistakes);

}  // namespace tuning
