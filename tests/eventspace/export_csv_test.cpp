// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/export_csv_test.cpp — CSV export: one line per record, with names.
#include <algorithm>
#include <catch2/catch.hpp>

#include "eventspace/export/csv.hpp"
#include "eventspace/transfer_record.hpp"
#include "tests/eventspace/export_sample.hpp"

namespace {

using namespace eventspace;
using namespace export_sample;
using trace_sample::Folder;

using Line = std::vector<std::string>;

/// Parses CSV strictly as RFC 4180 defines it.
std::vector<Line> lines_of(const std::string& text) {
  std::vector<Line> lines(1, Line(1));
  bool is_quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string& field = lines.back().back();
    if (is_quoted && text[at] == '"' && at + 1 < text.size() && text[at + 1] == '"')
      field += text[++at];
    else if (text[at] == '"')
      is_quoted = !is_quoted;
    else if (!is_quoted && text[at] == ',')
      lines.back().emplace_back();
    else if (!is_quoted && text.compare(at, 2, "\r\n") == 0)
      lines.emplace_back(1), ++at;
    else
      field += text[at];
  }
  lines.pop_back();  // drops the empty text after the last line break
  return lines;
}

std::vector<Line> exported_lines(const fs::path& run, const fs::path& file,
                                 bool is_one_clock = false) {
  const TraceDirectory trace(run);
  export_csv(trace, file, is_one_clock ? one_clock(trace) : own_clocks(trace));
  return lines_of(trace_sample::bytes_of(file));
}

}  // namespace

TEST_CASE("csv: records of programs and groups have names of kinds and flags") {
  EventRecord record{};
  record.kind = static_cast<std::uint64_t>(GroupEvent::prediction);
  CHECK(name_of_kind(record) == "prediction");
  record.kind = number_of_kind(EventKind::operation_first);
  record.flags = event_numbered;
  CHECK(names_of_flags(record) == "numbered");
  record.kind = number_of_kind(EventKind::start);
  record.flags = event_in_group;
  CHECK(names_of_flags(record) == "in_group");
}

TEST_CASE("csv: every record is a line that names its subject") {
  const Folder folder;
  write_run(folder.path() / "run", 4);
  const TraceDirectory trace(folder.path() / "run");
  const Exported exported = export_csv(trace, folder.path() / "run.csv", own_clocks(trace));
  const auto lines = lines_of(trace_sample::bytes_of(folder.path() / "run.csv"));
  CHECK(exported.losses.has_none());
  REQUIRE(lines.size() == exported.records + 1);
  CHECK(lines[0] == Line{"host", "place", "wrapper", "kind", "operation", "sequence", "slot",
                         "down_nanos", "up_nanos", "bytes", "flags"});
  const auto has = [&](const Line& line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  };
  CHECK(has({"alpha-0", "alpha-0/1", "sum.join.alpha-0", "operation", "move", "0", "1", "30000000",
             "35156000", "8", ""}));
  CHECK(has({"alpha-0", "sum.join", "store", "operation", "move", "0", "0", "35153000", "35156000",
             "8", ""}));
  CHECK(
      std::all_of(lines.begin(), lines.end(), [](const Line& line) { return line.size() == 11; }));
}

TEST_CASE("csv: lane messages between clusters have their target and kind and all bytes") {
  const Folder folder;
  {
    sample::Options options;
    options.hosts = 1;
    const sample::Run run(options);  // hosts: alpha-0, alpha-gateway, beta-0, beta-gateway
    Writing writing(folder.path() / "run", run.structure);
    writing.add(0, record_of(Transfer{0, 2, 20'000'000, true, false, 5, 9, 15}));
    writing.add(0, record_of(Transfer{0, 2, 7, true, true, 9, 11, 17}));
    writing.add(2, record_of(Transfer{2, 0, 8, false, true, -3, 4, 4}));
  }
  const auto lines = exported_lines(folder.path() / "run", folder.path() / "run.csv");
  REQUIRE(lines.size() == 4);
  CHECK(lines[1] == Line{"alpha-0", "transfers to beta", "transfer", "transfer", "", "10", "2", "5",
                         "9", "20000000", "stream"});
  CHECK(lines[2] == Line{"alpha-0", "transfers to beta", "transfer", "transfer", "", "8", "2", "9",
                         "11", "7", "stream|last"});
  CHECK(lines[3] == Line{"beta-0", "transfers to alpha", "transfer", "transfer", "", "7", "0", "-3",
                         "4", "8", "last"});
}

TEST_CASE("csv: commas and quotes and line ends in names are preserved") {
  const Folder folder;
  sample::Options options;
  options.hosts = 2;
  sample::Run run(options);
  for (auto& wrapper : run.structure.wrappers)
    if (wrapper.name == "sum.join") wrapper.name = "a \"sum\", of\r\nall";
  {
    Writing writing(folder.path() / "run", run.structure);
    writing.add(run.next_round());
  }
  const auto lines = exported_lines(folder.path() / "run", folder.path() / "run.csv");
  CHECK(std::count_if(lines.begin(), lines.end(), [](const Line& line) {
          return line.at(1) == "a \"sum\", of\r\nall" && line.at(2) == "store";
        }) == 1);
}

TEST_CASE("csv: with offsets all times are on the clock of the first host") {
  const Folder folder;
  write_run(folder.path() / "run", 1);
  const TraceDirectory trace(folder.path() / "run");
  const auto lines = exported_lines(folder.path() / "run", folder.path() / "run.csv", true);
  const auto begins = std::count_if(lines.begin(), lines.end(), [](const Line& line) {
    return line.at(3) == "thread" && line.at(7) == "0";
  });
  CHECK(begins == trace.structure.thread_count());
}

TEST_CASE("csv: an existing file is refused and not overwritten") {
  const Folder folder;
  write_run(folder.path() / "run", 1);
  const fs::path file = folder.path() / "run.csv";
  trace_sample::put(file, "mine");
  const TraceDirectory trace(folder.path() / "run");
  CHECK_THAT(refusal([&] { export_csv(trace, file, own_clocks(trace)); }),
             Catch::Contains("run.csv: cannot be written: File exists"));
  CHECK(trace_sample::bytes_of(file) == "mine");
}

TEST_CASE("csv: unreadable parts of a trace are counted and the rest is exported") {
  const Folder folder;
  write_run(folder.path() / "run", 400);
  const fs::path host = folder.path() / "run" / "alpha-0.trace";
  std::string bytes = trace_sample::bytes_of(host);
  bytes[bytes.size() / 2] ^= 1;
  trace_sample::put(host, bytes);
  const TraceDirectory trace(folder.path() / "run");
  const Exported exported = export_csv(trace, folder.path() / "run.csv", own_clocks(trace));
  CHECK(exported.losses.damaged_places == 1);
  CHECK(exported.losses.records_missing > 0);
  CHECK(lines_of(trace_sample::bytes_of(folder.path() / "run.csv")).size() == exported.records + 1);
}
