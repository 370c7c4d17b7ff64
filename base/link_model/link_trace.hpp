// SPDX-License-Identifier: Apache-2.0
// base/link_model/link_trace.hpp — parser for the recorded behaviour of a link
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/link_model/link_model.hpp"
#include "base/settings.hpp"

namespace tuning {

/// Reads a trace: one line for each change. Blank lines and text after a # are ignored:
///
///     # seconds from the start, one-way latency in ms, bandwidth in Mbit/s
///     0.0   9.1   100
///     0.5  12.75
///
/// A line `round_trip` at the start declares the latencies to be round trips, as ping reports them.
/// This direction then gets half of each, the best estimate without a common clock.
/// The first line must be for second 0. A line without bandwidth gets `bits_per_second`. The values
/// of the last line hold as long as those of the line before it, or for ever if there is only one
/// line. Then the trace repeats. Each mistake names the trace and the line. Returns nullopt if
/// there are any mistakes.
std::optional<LinkModel> parse_link_trace(std::string_view text, const std::string& name,
                                          double bits_per_second, base::Mistakes& mistakes);

}  // namespace tuning
