// SPDX-License-Identifier: Apache-2.0
// eventspace/analysis/analyze_trace.cpp — report of a trace directory.
#include "eventspace/analysis/analyze_trace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "eventspace/analysis/attribution/what_if.hpp"
#include "eventspace/analysis/report/json.hpp"
#include "eventspace/analysis/report/units.hpp"
#include "eventspace/analysis/report/visible_text.hpp"

namespace eventspace {
namespace {

struct LossName {
  std::string_view text;
  std::uint64_t TraceLosses::*count;
};
constexpr std::array<LossName, 7> loss_names = {{
    {"records dropped: they were made faster than they were written",
     &TraceLosses::records_dropped},
    {"records missing: not written, or not readable", &TraceLosses::records_missing},
    {"damaged places", &TraceLosses::damaged_places},
    {"chunks cut off by the end of the file", &TraceLosses::chunks_cut_off},
    {"chunks of a version or kind unknown here", &TraceLosses::chunks_unknown},
    {"chunks there twice", &TraceLosses::chunks_repeated},
    {"bytes of the file not used", &TraceLosses::bytes_unused},
}};

/// Returns a text with at most five of the names.
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t named_max = 5;
  std::vector<std::string> first(
      names.begin(),
      names.begin() + static_cast<std::ptrdiff_t>(std::min(named_max, names.size())));
  if (names.size() > named_max) first.push_back(fmt::format("{} more", names.size() - named_max));
  return fmt::format("{}", fmt::join(first, ", "));
}

std::string hosts_text(std::size_t count) {
  return fmt::format("{} {}", count, count == 1 ? "host" : "hosts");
}

/// Returns the hosts of which records are missing. The figures of such a host may cover different
/// rounds than those of other hosts, so comparisons with this host may be wrong.
std::set<std::string> damaged_hosts(const TraceReport& report) {
  std::set<std::string> hosts(report.missing_hosts.begin(), report.missing_hosts.end());
  for (const TraceFile& file : report.files)
    if (!file.losses.has_none()) hosts.insert(file.name);
  hosts.insert(report.silent_hosts.begin(), report.silent_hosts.end());
  return hosts;
}

/// Returns a text about the host whose records end first. Hosts write their records every 50 ms, so
/// a difference of less than 50 ms means nothing.
std::string died_first(const TraceReport& report) {
  return fmt::format("; the records of {} end first, {:.0f} ms before the next one's",
                     report.not_ended.front(), ms(*report.first_by_nanos));
}

/// Finds the hosts whose files have no end mark. Sorts these hosts by the times of their last
/// records. The times are on the common clock. If there is none, they are in UTC by each host's own
/// clock.
void find_not_ended(const HostClocks& clocks,
                    const std::map<std::uint32_t, std::int64_t>& last_nanos, TraceReport& report) {
  std::vector<std::pair<std::int64_t, std::string>> ends;
  bool is_known = true;
  for (const TraceFile& file : report.files) {
    if (file.ended) continue;
    const auto last = last_nanos.find(file.host);
    const std::int64_t utc = clocks.is_common() ? 0 : file.header.origin_utc_nanos.value_or(0);
    is_known = is_known && last != last_nanos.end() && (clocks.is_common() || utc != 0);
    std::int64_t end = 0;
    if (is_known && __builtin_add_overflow(last->second, utc, &end)) is_known = false;
    ends.emplace_back(end, file.name);
  }
  if (is_known) std::sort(ends.begin(), ends.end());
  for (const auto& [end, host] : ends) report.not_ended.push_back(host);
  std::int64_t by = 0;
  if (is_known && ends.size() > 1 && !__builtin_sub_overflow(ends[1].first, ends[0].first, &by))
    report.first_by_nanos = by;
}

/// Adds to a finding the hosts with damaged traces on which it depends. A slow host or thread is
/// found by comparison with its cluster, so a damaged trace of any host of the cluster matters. A
/// slow cluster is found by comparison with all others.
void say_what_is_damaged(const Structure& structure, const std::set<std::string>& damaged,
                         Finding& finding) {
  const bool is_of_cluster =
      finding.kind == FindingKind::slow_host || finding.kind == FindingKind::slow_thread;
  const bool is_of_all = finding.kind == FindingKind::slow_cluster;
  const std::set<std::string_view> named(finding.hosts.begin(), finding.hosts.end());
  for (const Structure::Host& host : structure.hosts) {
    const bool concerns =
        is_of_all || host.name == finding.place.host || named.contains(host.name) ||
        (is_of_cluster && structure.clusters[host.cluster] == finding.place.cluster);
    if (concerns && damaged.contains(host.name)) finding.rests_on_damage.push_back(host.name);
  }
  if (!finding.rests_on_damage.empty())
    finding.sentence +=
        fmt::format("; it rests on a damaged trace of {}", listed(finding.rests_on_damage));
}

/// Whether a host has threads or wrappers. A host without threads and wrappers makes no records; it
/// can only pass messages on.
bool has_part(const Structure& structure, std::uint32_t host) {
  return structure.hosts[host].threads > 0 ||
         std::any_of(structure.wrappers.begin(), structure.wrappers.end(),
                     [host](const auto& wrapper) { return wrapper.host == host; });
}

}  // namespace

bool is_unusable(const TraceReport& report) {
  const CoverageReport& coverage = report.report.coverage;
  return coverage.operations + coverage.transfers + report.report.groups.records <=
         coverage.unknown;
}

std::vector<std::string> losses_of(const TraceReport& report) {
  std::vector<std::string> lines = report.no_traces;
  const auto line = [&](std::string words) { lines.push_back(std::move(words)); };
  if (!report.missing_hosts.empty())
    line(fmt::format("no file of {}: {}", hosts_text(report.missing_hosts.size()),
                     listed(report.missing_hosts)));
  if (!report.not_ended.empty())
    line(fmt::format(
        "{} did not end, or could not write; records that were not written are missing: {}{}",
        hosts_text(report.not_ended.size()), listed(report.not_ended),
        report.first_by_nanos ? died_first(report) : ""));
  if (!report.silent_hosts.empty())
    line(fmt::format("not one record of {}: {}", hosts_text(report.silent_hosts.size()),
                     listed(report.silent_hosts)));
  for (const TraceFile& file : report.files) {
    const TraceLosses& losses = file.losses;
    for (const LossName& name : loss_names)
      if (losses.*name.count > 0)
        line(fmt::format("{}: {} {}", file.name, losses.*name.count, name.text));
    if (losses.is_header_damaged) line(file.name + ": the head of its file is damaged");
  }
  return lines;
}

TraceReport analyze_trace(const TraceDirectory& directory, const HostClocks& clocks,
                          const AnalysisOptions& options, const Progress& progress) {
  MergedTrace trace(directory);
  AnalysisOptions with_clocks = options;
  with_clocks.has_common_clock = clocks.is_common();
  Analysis analysis(directory.structure, with_clocks);
  std::uint32_t host = 0;
  std::span<const EventRecord> records;
  std::vector<EventRecord> moved;
  // Time of each host's last record, keyed by host.
  std::map<std::uint32_t, std::int64_t> last_nanos;
  constexpr std::uint64_t chunks_between = 64;
  for (std::uint64_t chunks = 0; trace.next(host, records); ++chunks) {
    if (clocks.moves()) {
      moved.assign(records.begin(), records.end());
      for (EventRecord& record : moved) clocks.apply(host, record);
      records = moved;
    }
    const auto [last, is_first] = last_nanos.try_emplace(host, +records.back().up_nanos);
    if (!is_first) last->second = std::max(last->second, +records.back().up_nanos);
    analysis.add(host, records);
    if (progress && chunks % chunks_between == 0) progress(trace.share_read());
  }
  TraceReport report;
  report.directory = directory.path.string();
  report.clocks = clocks.text();
  for (const MergedTrace::File& file : trace.files()) {
    const std::string& name = directory.structure.hosts[file.host].name;
    report.files.push_back({file, name});
    if (file.records == 0 && has_part(directory.structure, file.host))
      report.silent_hosts.push_back(name);
  }
  report.missing_hosts = directory.missing_hosts;
  report.no_traces = directory.no_traces;
  find_not_ended(clocks, last_nanos, report);
  report.report = analysis.finish();
  const std::set<std::string> damaged = damaged_hosts(report);
  for (Finding& finding : report.report.findings)
    say_what_is_damaged(directory.structure, damaged, finding);
  return report;
}

TraceHeader TraceState::header() const {
  const auto whole = std::find_if(files.begin(), files.end(), [](const TraceFile& file) {
    return !file.losses.is_header_damaged;
  });
  return whole == files.end() ? TraceHeader{} : whole->header;
}

nlohmann::ordered_json to_json(const TraceReport& report) { return JsonWriter::json_of(report); }

std::string to_text(const TraceReport& report, std::size_t rows) {
  std::string clock = "no";
  for (const auto& file : report.files)
    if (!file.losses.is_header_damaged) clock = file.header.clock;
  std::string text;
  append_line(text, "{}: {}, {} clock; times are of {}", report.directory,
              hosts_text(report.files.size()), clock, report.clocks);
  return text + to_text(report.report, rows, losses_of(report));
}

void check_questions(const Questions& questions, const Structure& structure) {
  read_changes(questions.changes, structure);
}

}  // namespace eventspace
