// SPDX-License-Identifier: Apache-2.0
// eventspace/export/otf2.hpp — a trace as an OTF2 archive, for the tools of the field.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "eventspace/export/intervals.hpp"

namespace eventspace {

/// Writes the archive `directory`/traces.otf2: hosts as processes, threads and nodes of trees as
/// their locations, wrappers as regions, what crosses from host to host as MPI messages, whose
/// ranks are the numbers of the hosts. docs/exports.md says the rest.
///
/// Throws: std::runtime_error, naming the directory; when it is there and not empty; when this
///         program was built without OTF2.
Exported export_otf2(const TraceDirectory& trace, const std::filesystem::path& directory,
                     const HostClocks& clocks);

}  // namespace eventspace
