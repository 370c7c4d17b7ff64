// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/analyze_trace.hpp — a trace directory as a report.
#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "eventspace/analysis/analysis.hpp"
#include "eventspace/trace/host_clocks.hpp"
#include "eventspace/trace/merged.hpp"
#include "eventspace/trace/reader.hpp"

namespace eventspace {

/// What was found, and in what.
struct TraceReport {
  std::string directory;
  std::vector<MergedTrace::File> files;
  std::vector<std::string> hosts;  ///< names of those the files are of
  /// Those that were killed or failed. By when their records end, when that is known of all: then
  /// `first_by_nanos` is how much sooner than the next one's those of the first do.
  std::vector<std::string> not_ended;
  std::optional<std::int64_t> first_by_nanos;
  std::vector<std::string> missing_hosts;
  std::vector<std::string> silent_hosts;  ///< with threads or wrappers, and not one record
  std::vector<std::string> no_traces;     ///< files that are none
  std::string clocks;                     ///< of what clocks the times are, for people
  Report report;
};

/// Called from time to time with the share of the trace read so far.
using Progress = std::function<void(double share)>;
/// Called with every chunk as the analysis is given it, on the clocks it is given, for those who
/// draw what it judges.
using ChunkConsumer = std::function<void(std::uint32_t host, std::span<const EventRecord>)>;

/// Memory: as Analysis and MergedTrace together, whatever the length of the trace.
/// If `clocks` are common to all hosts, one-way times between hosts are compared as well.
TraceReport analyze_trace(const TraceDirectory& directory, const HostClocks& clocks,
                          const AnalysisOptions& options = {}, const Progress& progress = {},
                          const ChunkConsumer& also = {});

/// No operation has a usable record, so the figures say nothing.
bool is_unusable(const TraceReport& report);
/// What is missing from the trace or could not be used: one sentence each, for people.
std::vector<std::string> losses_of(const TraceReport& report);
nlohmann::ordered_json to_json(const TraceReport& report);
std::string to_text(const TraceReport& report, std::size_t rows = 0);

}  // namespace eventspace
