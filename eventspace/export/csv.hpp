// SPDX-License-Identifier: Apache-2.0
// eventspace/export/csv.hpp — a trace's records for spreadsheets and statistics programs.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "eventspace/export/intervals.hpp"

namespace eventspace {

/// Writes a line for each record, as RFC 4180 has it, host by host in the order of the files.
/// docs/exports.md says what the columns are.
/// Throws: std::runtime_error, naming the file; when there is one of that name already.
Exported export_csv(const TraceDirectory& trace, const std::filesystem::path& file,
                    const HostClocks& clocks);

}  // namespace eventspace
