// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/analyze_trace.cpp — a trace directory as a report.
#include "eventspace/analysis/analyze_trace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace eventspace {
namespace {

struct LossName {
  std::string_view key;   ///< in JSON
  std::string_view text;  ///< for people
  std::uint64_t TraceLosses::*count;
};
constexpr std::array<LossName, 7> loss_names = {{
    {"records_dropped", "records dropped: they came faster than they were written",
     &TraceLosses::records_dropped},
    {"records_missing", "records written but not readable", &TraceLosses::records_missing},
    {"damaged_places", "damaged places", &TraceLosses::damaged_places},
    {"chunks_cut_off", "chunks cut off by the end of the file", &TraceLosses::chunks_cut_off},
    {"chunks_unknown", "chunks of a version or kind unknown here", &TraceLosses::chunks_unknown},
    {"chunks_repeated", "chunks there twice", &TraceLosses::chunks_repeated},
    {"bytes_unused", "bytes of the file not used", &TraceLosses::bytes_unused},
}};

nlohmann::ordered_json file_json(const MergedTrace::File& file, const std::string& host) {
  nlohmann::ordered_json losses = nlohmann::ordered_json::object();
  for (const LossName& name : loss_names)
    if (file.losses.*name.count > 0) losses[std::string(name.key)] = file.losses.*name.count;
  if (file.losses.is_header_damaged) losses["header_damaged"] = true;
  return {{"host", host},
          {"records", file.records},
          {"ended", file.ended},
          {"clock", file.header.clock},
          {"resolution_nanos", file.header.resolution_nanos},
          {"seed", file.header.seed},
          {"started", file.header.started},
          {"version", file.header.version},
          {"lost", std::move(losses)}};
}

/// At most five of them by name.
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t named_max = 5;
  std::vector<std::string> first(
      names.begin(),
      names.begin() + static_cast<std::ptrdiff_t>(std::min(named_max, names.size())));
  if (names.size() > named_max) first.push_back(fmt::format("{} more", names.size() - named_max));
  return fmt::format("{}", fmt::join(first, ", "));
}

}  // namespace

std::vector<std::string> losses_of(const TraceReport& report) {
  std::vector<std::string> lines;
  const auto line = [&](std::string words) { lines.push_back(std::move(words)); };
  if (!report.missing_hosts.empty())
    line(fmt::format("no file of {} hosts: {}", report.missing_hosts.size(),
                     listed(report.missing_hosts)));
  std::vector<std::string> cut_short;
  for (std::size_t i = 0; i < report.files.size(); ++i)
    if (!report.files[i].ended) cut_short.push_back(report.hosts[i]);
  if (!cut_short.empty())
    line(fmt::format("{} hosts did not end; what they had not written yet is not there: {}",
                     cut_short.size(), listed(cut_short)));
  for (std::size_t i = 0; i < report.files.size(); ++i) {
    const TraceLosses& losses = report.files[i].losses;
    for (const LossName& name : loss_names)
      if (losses.*name.count > 0)
        line(fmt::format("{}: {} {}", report.hosts[i], losses.*name.count, name.text));
    if (losses.is_header_damaged) line(report.hosts[i] + ": the head of its file is damaged");
  }
  return lines;
}

TraceReport analyze_trace(const TraceDirectory& directory, const HostClocks& clocks,
                          const AnalysisOptions& options, const Progress& progress,
                          const ChunkConsumer& also) {
  MergedTrace trace(directory);
  AnalysisOptions with_clocks = options;
  with_clocks.has_common_clock = clocks.is_common();
  Analysis analysis(directory.structure, with_clocks);
  std::uint32_t host = 0;
  std::span<const EventRecord> records;
  std::vector<EventRecord> moved;
  constexpr std::uint64_t chunks_between = 64;
  for (std::uint64_t chunks = 0; trace.next(host, records); ++chunks) {
    if (clocks.moves()) {
      moved.assign(records.begin(), records.end());
      for (EventRecord& record : moved) clocks.apply(host, record);
      records = moved;
    }
    analysis.add(host, records);
    if (also) also(host, records);
    if (progress && chunks % chunks_between == 0) progress(trace.share_read());
  }
  TraceReport report;
  report.directory = directory.path.string();
  report.clocks = clocks.text();
  report.files = trace.files();
  for (const auto& file : report.files)
    report.hosts.push_back(directory.structure.hosts[file.host].name);
  report.missing_hosts = directory.missing_hosts;
  report.report = analysis.finish();
  return report;
}

nlohmann::ordered_json to_json(const TraceReport& report) {
  nlohmann::ordered_json trace = {{"directory", report.directory},
                                  {"command", nlohmann::ordered_json::array()},
                                  {"plan", ""},
                                  {"clocks", report.clocks},
                                  {"missing_hosts", report.missing_hosts},
                                  {"files", nlohmann::ordered_json::array()}};
  for (std::size_t i = 0; i < report.files.size(); ++i) {
    if (report.files[i].losses.is_header_damaged) continue;
    trace["command"] = report.files[i].header.command;
    trace["plan"] = report.files[i].header.plan;
    break;
  }
  for (std::size_t i = 0; i < report.files.size(); ++i)
    trace["files"].push_back(file_json(report.files[i], report.hosts[i]));
  nlohmann::ordered_json all = {{"format", "paths-report"}, {"version", 1}};
  all["trace"] = std::move(trace);
  all.update(to_json(report.report));
  return all;
}

std::string to_text(const TraceReport& report, std::size_t rows) {
  std::string clock = "no";
  for (const auto& file : report.files)
    if (!file.losses.is_header_damaged) clock = file.header.clock;
  return fmt::format("{}: {} hosts, {} clock; times are of {}\n{}", report.directory,
                     report.files.size(), clock, report.clocks,
                     to_text(report.report, rows, losses_of(report)));
}

}  // namespace eventspace
