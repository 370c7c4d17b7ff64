// SPDX-License-Identifier: Apache-2.0
// tests/page/page_test.cpp — timeline of the page, and the encoding of its data.
#include "eventspace/page/page.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "eventspace/analysis/analysis.hpp"
#include "tests/eventspace/sample_run.hpp"
#include "tests/eventspace/trace_sample.hpp"

namespace {

using eventspace::TimelineReport;
using eventspace::sample::ms;

eventspace::Report report_of(eventspace::sample::Run& run, int rounds, bool has_common_clock,
                             std::size_t parts = eventspace::page_timeline_parts) {
  eventspace::AnalysisOptions options;
  options.has_common_clock = has_common_clock;
  options.timeline_parts = parts;
  eventspace::Analysis analysis(run.structure, options);
  const auto add = [&](auto& records) {
    for (std::uint32_t host = 0; host < records.size(); ++host) analysis.add(host, records[host]);
  };
  for (int round = 0; round < rounds; ++round) add(run.next_round());
  add(run.thread_records());
  return analysis.finish();
}

std::size_t parts_of(const TimelineReport& timeline) {
  std::size_t parts = 0;
  for (const auto& stretch : timeline.stretches)
    for (const auto& thread : stretch.threads) parts += thread.size();
  return parts;
}

bool is_in_stretch(const TimelineReport& timeline, std::int64_t nanos) {
  return std::any_of(timeline.stretches.begin(), timeline.stretches.end(), [&](const auto& one) {
    return one.begin_nanos <= nanos && nanos < one.end_nanos;
  });
}

/// Returns the total time of each label (operation and cause) in a timeline.
std::map<std::string, std::int64_t> sums_of(const TimelineReport& timeline) {
  std::map<std::string, std::int64_t> sums;
  for (const auto& stretch : timeline.stretches)
    for (const auto& thread : stretch.threads)
      for (const auto& part : thread)
        if (part.label != TimelineReport::nothing) {
          const auto& row = timeline.labels[part.label];
          sums[row.operation + ": " + text_of(row)] += part.nanos;
        }
  return sums;
}

template <typename Rows>
std::map<std::string, std::int64_t> sums_of_rows(const Rows& rows) {
  std::map<std::string, std::int64_t> sums;
  for (const auto& row : rows) sums[row.operation + ": " + text_of(row)] += row.nanos;
  return sums;
}

}  // namespace

TEST_CASE("page: a timeline of the whole run adds up to the time of all threads") {
  eventspace::sample::Options options;
  options.has_common_clock = true;
  options.noise = {{3, 5 * ms, 100 * ms, 7 * ms}};
  eventspace::sample::Run run(options);
  const auto report = report_of(run, 60, true);
  REQUIRE(report.timeline.stretches.size() == 1);
  CHECK(report.timeline.nanos == report.time.run_nanos);
  CHECK(sums_of(report.timeline) == sums_of_rows(report.time.rows));
}

TEST_CASE("page: the steps of the critical path adjoin and add up to its rows") {
  eventspace::sample::Options options;
  options.has_common_clock = true;
  options.noise = {{3, 5 * ms, 100 * ms, 7 * ms}};
  eventspace::sample::Run run(options);
  const auto report = report_of(run, 60, true);
  const auto& timeline = report.timeline;
  CHECK(timeline.has_whole_path);
  std::map<std::string, std::int64_t> sums, shares;
  const auto name_of = [&](std::uint32_t label) {
    return timeline.labels[label].operation + ": " + text_of(timeline.labels[label]);
  };
  std::int64_t at = 0;
  for (std::size_t step = 0; step < timeline.path.size(); ++step) {
    CHECK(timeline.path[step].begin_nanos == at);
    at += timeline.path[step].nanos;
    sums[name_of(timeline.path[step].label)] += timeline.path[step].nanos;
    if (step > 0) CHECK(timeline.path[step].from_thread < run.structure.thread_count());
  }
  CHECK(at == report.time.run_nanos);
  for (const auto& share : timeline.shares) shares[name_of(share.label)] += share.nanos;
  CHECK(sums == sums_of_rows(report.time.critical));
  CHECK(shares == sums);
  // The path crosses from one cluster to another, so it has messages between threads of the two.
  CHECK(std::any_of(timeline.path.begin(), timeline.path.end(), [&](const auto& step) {
    const auto cluster = [&](std::uint32_t thread) {
      return run.structure.hosts[run.structure.host_of_thread(thread)].cluster;
    };
    return cluster(step.from_thread) != cluster(step.to_thread);
  }));
}

TEST_CASE("page: the first, the longest and the found iterations are kept within the limit") {
  eventspace::sample::Options options;
  options.has_common_clock = true;
  options.jitter = [](std::uint32_t thread, std::uint64_t iteration) {
    return thread == 3 && iteration == 700 ? 900 * ms : 0;
  };
  eventspace::sample::Run run(options);
  const auto report = report_of(run, 1000, true, 8000);
  const auto& timeline = report.timeline;
  CHECK(parts_of(timeline) <= 8000);
  REQUIRE(timeline.iteration_ends.size() == 1000);
  CHECK(timeline.stretches.front().begin_nanos == 0);
  CHECK(is_in_stretch(timeline, timeline.iteration_ends[700] - 1));
  CHECK(is_in_stretch(timeline, timeline.iteration_ends[700] + 1));
  CHECK(!is_in_stretch(timeline, timeline.iteration_ends[500]));
  REQUIRE(report.findings.size() == 1);
  CHECK(is_in_stretch(timeline, report.findings[0].at_nanos));
  for (const auto& stretch : timeline.stretches)
    for (const auto& thread : stretch.threads) {
      std::int64_t sum = 0;
      for (const auto& part : thread) sum += part.nanos;
      CHECK(sum <= stretch.end_nanos - stretch.begin_nanos);
    }
}

TEST_CASE("page: without one clock each host begins at 0 and there is no critical path") {
  eventspace::sample::Run run({});
  const auto report = report_of(run, 50, false);
  const auto& timeline = report.timeline;
  CHECK(!timeline.has_common_clock);
  CHECK(timeline.path.empty());
  CHECK(timeline.iteration_ends.empty());
  REQUIRE(timeline.stretches.size() == 1);
  for (const auto& thread : timeline.stretches[0].threads) {
    REQUIRE(!thread.empty());
    CHECK(timeline.labels[thread[0].label].cause == eventspace::TimeCause::computing);
    CHECK(thread[0].nanos >= 29 * ms);
  }
}

TEST_CASE("page: bins of a histogram contain every number once and can be added") {
  eventspace::Distribution few;
  eventspace::Distribution many(16);  // keeps counts of ranges, not each value
  std::uint64_t count = 0;
  for (std::int64_t value = 0; value < 5'000'000'000; value += 1 + value / 50) {
    (++count % 100 == 0 ? few : many).add(value);
    many.add(value);
  }
  std::uint64_t binned = 0;
  std::int64_t end = -1;
  const auto all = many.bins();
  for (const auto& bin : all) {
    CHECK(bin.from >= end);
    CHECK(bin.to > bin.from);
    end = bin.to;
    binned += bin.count;
  }
  CHECK(binned == many.count());
  for (const auto& bin : few.bins()) {
    const auto same = [&](const auto& other) { return other.from == bin.from; };
    CHECK(std::count_if(all.begin(), all.end(), same) == 1);
  }
}

TEST_CASE("page: its data is deflated JSON in base64") {
  eventspace::sample::Run run({});
  const std::string json = eventspace::page_json(run.structure, report_of(run, 5, false),
                                                 {"a </script> \xff", {}, "", "", "", {}});
  const std::string data = eventspace::page_data(json);
  CHECK(data.find('<') == std::string::npos);
  // The first bytes of zlib data in base64; page_real.cpp reads the rest in a browser.
  CHECK(data.starts_with("eJ"));
  CHECK(data.size() % 4 == 0);
  CHECK(data.size() < json.size());
  const auto read = nlohmann::json::parse(json);
  CHECK(read["timeline"]["stretches"][0]["parts"].size() == run.structure.thread_count());
  CHECK(read["shape"]["hosts"].size() == run.structure.hosts.size());
}

TEST_CASE(
    "page: a program without the page names the missing packages and one with it writes the file") {
  eventspace::sample::Run run({});
  eventspace::Analysis analysis(run.structure);
  const auto report = analysis.finish();
  const trace_sample::Folder folder;
  std::filesystem::create_directories(folder.path());
  const auto file = folder.path() / "page.html";
  if (eventspace::page_template().empty()) {
    CHECK_THROWS_WITH(eventspace::write_page(file, run.structure, report, {}),
                      Catch::Contains("npm"));
    CHECK(!std::filesystem::exists(file));
    return;
  }
  eventspace::write_page(file, run.structure, report, {});
  const std::string page = trace_sample::bytes_of(file);
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(page.find("@PATHS_DATA@") == std::string::npos);
  CHECK(page.find("The MIT License") != std::string::npos);  // license of the drawing library
  CHECK_THROWS_WITH(
      eventspace::write_page(folder.path() / "no" / "x.html", run.structure, report, {}),
      Catch::Contains("x.html"));
}
