// SPDX-License-Identifier: Apache-2.0
// eventspace/export/otf2.hpp — export of a trace as an OTF2 archive.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "eventspace/export/records.hpp"

namespace eventspace {

/// Writes the archive `directory`/traces.otf2. In OTF2's terms, hosts are processes, their threads
/// and the nodes of trees are locations, and wrappers are regions. Messages between hosts are MPI
/// messages, with numbers of hosts as ranks. docs/how-to/exports.md describes the details.
///
/// Throws: std::runtime_error that names the directory, for example if the directory is not empty,
///         or if the program was built without OTF2.
Exported export_otf2(const TraceDirectory& trace, const std::filesystem::path& directory,
                     const HostClocks& clocks);

}  // namespace eventspace
