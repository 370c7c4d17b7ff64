// SPDX-License-Identifier: Apache-2.0
// eventspace/export/perfetto.hpp — export of a trace for Perfetto.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "eventspace/export/records.hpp"

namespace eventspace {

/// Writes a Perfetto trace. In Perfetto's terms, hosts are processes, threads are threads, and
/// nodes of trees are tracks. Operations, wrappers and computations are slices, and flows connect
/// the slices of different hosts.
///
/// Why:    The encoder is written by hand, because protobuf would add a library, a compiler and a
///         build step for twenty fields. The files conform to
///         eventspace/export/perfetto_trace.proto, with which the tests read them.
/// Throws: std::runtime_error that names the file, for example if the file exists.
Exported export_perfetto(const TraceDirectory& trace, const std::filesystem::path& file,
                         const HostClocks& clocks);

}  // namespace eventspace
