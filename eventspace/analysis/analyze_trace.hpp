// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/analyze_trace.hpp — report of a trace directory.
#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eventspace/analysis/analysis.hpp"
#include "eventspace/analysis/report/fields.hpp"
#include "eventspace/trace/chunk.hpp"
#include "eventspace/trace/host_clocks.hpp"
#include "eventspace/trace/merged.hpp"
#include "eventspace/trace/reader.hpp"

namespace eventspace {

/// State of a host's file (MergedTrace::File), with the host's name.
struct TraceFile : MergedTrace::File {
  std::string name;
};

template <class Visitor>
void describe(Visitor& visit, const TraceLosses& lost) {
  visit.object("trace_losses", "Parts of a file that could not be used, by reason.");
  const auto count = [&](std::string_view name, std::uint64_t value, std::string_view help) {
    visit.field(name, value, units::count, help, left_out(value == 0, "if it is 0"));
  };
  count("records_dropped", lost.records_dropped,
        "Records that were made faster than they were written.");
  count("records_missing", lost.records_missing, "Records that were not written or not read.");
  count("damaged_places", lost.damaged_places, "Damaged places.");
  count("chunks_cut_off", lost.chunks_cut_off, "Chunks that the end of the file cuts off.");
  count("chunks_unknown", lost.chunks_unknown, "Chunks of an unknown version or kind.");
  count("chunks_repeated", lost.chunks_repeated, "Chunks that are in the file twice.");
  visit.field("bytes_unused", lost.bytes_unused, units::bytes, "Bytes that were not used.",
              left_out(lost.bytes_unused == 0, "if it is 0"));
  visit.field("header_damaged", true, units::none, "True if the head of the file is damaged.",
              left_out(!lost.is_header_damaged, "if it is false"));
}

template <class Visitor>
void describe(Visitor& visit, const TraceFile& file) {
  visit.object("trace_file", "File of a host.");
  visit.field("host", file.name, units::none, "Name of the host.");
  visit.field("records", file.records, units::count, "Records that were read.");
  visit.field("ended", file.ended, units::none, "True if the host ended in order.");
  visit.field("clock", file.header.clock, units::none, "Clock of the records.");
  visit.field("resolution_nanos", file.header.resolution_nanos, units::resolution_nanos,
              "Resolution of the clock.");
  visit.field("seed", file.header.seed, units::none, "Seed of the run.");
  visit.field("started", file.header.started, units::none, "Date and time of the start.");
  visit.field("version", file.header.version, units::none, "Version of PATHS.");
  visit.field("lost", file.losses, units::none, "Parts that could not be used.");
}

/// Checks that the run has the hosts and links to which `questions` refer.
/// Throws: ConfigError with all mistakes.
void check_questions(const Questions& questions, const Structure& structure);

/// State of the trace from which a report was made.
struct TraceState {
  std::string directory;
  std::vector<TraceFile> files;
  std::vector<std::string> not_ended;
  /// Time from the last record of the first host in `not_ended` to the last record of the second
  /// host. nullopt if the two times cannot be compared.
  std::optional<std::int64_t> first_by_nanos;
  std::vector<std::string> missing_hosts;
  std::vector<std::string> silent_hosts;  ///< hosts that have threads or wrappers, but no records
  std::vector<std::string> no_traces;
  std::string clocks;

  /// Returns the first header that is not damaged, or an empty one.
  TraceHeader header() const;
};

template <class Visitor>
void describe(Visitor& visit, const TraceState& trace) {
  visit.object("trace", "The trace that was analysed.");
  visit.field("directory", trace.directory, units::none, "Directory of the trace.");
  visit.field("command", trace.header().command, units::none, "Command line of the run.");
  visit.field("plan", trace.header().plan, units::none, "Digest of the plan.");
  visit.field("clocks", trace.clocks, units::none, "Clocks of the times, for people.");
  visit.field("missing_hosts", trace.missing_hosts, units::none, "Hosts without a file.");
  visit.field(
      "not_ended_hosts", trace.not_ended, units::none,
      "Hosts that were killed or failed. If the times are known, the host whose records end "
      "first is the first.");
  visit.field("no_traces", trace.no_traces, units::none,
              "Files with the name of a trace that are no trace.");
  visit.field("files", trace.files, units::none, "Files of the hosts.");
}

struct TraceReport : TraceState {
  Report report;
};

template <class Visitor>
void describe(Visitor& visit, const TraceReport& report) {
  visit.object("report", "Report of a run: `paths analyze --json`.");
  visit.field("format", Constant{"paths-report"}, units::none, "Name of the format.");
  visit.field("version", Constant{1}, units::none, "Version of the format.");
  visit.field("trace", static_cast<const TraceState&>(report), units::none, "The trace.");
  visit.include(report.report);
}

/// Callback that receives from time to time the share of the trace that was read so far, from 0 to
/// 1.
using Progress = std::function<void(double share)>;

/// Analyses a trace. If `clocks` are common to all hosts, one-way times between hosts are compared
/// as well.
///
/// Memory: As much as Analysis and MergedTrace together, independent of the length of the trace.
TraceReport analyze_trace(const TraceDirectory& directory, const HostClocks& clocks,
                          const AnalysisOptions& options = {}, const Progress& progress = {});

/// Whether the report is meaningless because the trace has no usable record of an operation.
bool is_unusable(const TraceReport& report);
/// Returns the losses of the trace, one sentence for each.
std::vector<std::string> losses_of(const TraceReport& report);
nlohmann::ordered_json to_json(const TraceReport& report);
std::string to_text(const TraceReport& report, std::size_t rows = 0);

}  // namespace eventspace
