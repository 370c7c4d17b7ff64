// SPDX-License-Identifier: Apache-2.0
// eventspace/export/csv.hpp — export of a trace's records as CSV.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "eventspace/export/records.hpp"

namespace eventspace {

/// Writes one line for each record (RFC 4180), host by host in the order of the files.
/// docs/how-to/exports.md describes the columns.
/// Throws: std::runtime_error that names the file, for example if the file exists.
Exported export_csv(const TraceDirectory& trace, const std::filesystem::path& file,
                    const HostClocks& clocks);

}  // namespace eventspace
