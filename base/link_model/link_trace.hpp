// SPDX-License-Identifier: Apache-2.0
// base/link_model/link_trace.hpp — a link's recorded behaviour, read from a text file.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/link_model/link_model.hpp"
#include "base/settings.hpp"

namespace tuning {

/// Reads a trace: a line for each change, blank ones and what follows a # left out:
///
///     # seconds from the start, one-way latency in ms, bandwidth in Mbit/s
///     0.0   9.1   100
///     0.5  12.75
///
/// A line `round_trip` before them says that the latencies are round trips, as ping shows them:
/// half of each is the way of this direction, the best guess without a common clock.
/// The first line is for second 0; where the bandwidth is not given, `bits_per_second` holds. The
/// last line is in force for as long as the one before it (a single line for ever); then the
/// trace begins again.
/// Mistakes carry the trace's own name and line; nothing is returned when there were any.
std::optional<LinkModel> parse_link_trace(std::string_view text, const std::string& name,
                                          double bits_per_second, base::Mistakes& mistakes);

}  // namespace tuning
