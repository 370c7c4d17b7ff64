// SPDX-License-Identifier: Apache-2.0
// eventspace/export/perfetto.hpp — a trace for Perfetto's page and its queries.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "eventspace/export/intervals.hpp"

namespace eventspace {

/// Writes a Perfetto trace: hosts as processes, threads as threads, nodes of trees as tracks,
/// slices for operations, wrappers and computation, flows from host to host.
///
/// Why:    by hand, because protobuf would be a library, a compiler and a step of the build for
///         twenty fields; eventspace/export/perfetto_trace.proto is what the files keep to, and
///         tests read them by it.
/// Throws: std::runtime_error, naming the file; when there is one of that name already.
Exported export_perfetto(const TraceDirectory& trace, const std::filesystem::path& file,
                         const HostClocks& clocks);

}  // namespace eventspace
