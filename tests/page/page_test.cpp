// SPDX-License-Identifier: Apache-2.0
// tests/page/page_test.cpp — iterations that the page keeps in full, and the encoding of its data.
#include "eventspace/page/page.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "eventspace/analysis/analysis.hpp"
#include "eventspace/analysis/input/shape.hpp"
#include "eventspace/page/page_timeline.hpp"
#include "tests/eventspace/sample_run.hpp"
#include "tests/eventspace/trace_sample.hpp"

namespace {

using eventspace::PageTimeline;
using eventspace::PageTimelineOptions;
using eventspace::PageTimelineReport;
using eventspace::sample::ms;
using eventspace::sample::us;

PageTimelineReport timeline_of(eventspace::sample::Run& run, int rounds,
                               const PageTimelineOptions& options = {}) {
  PageTimeline timeline(run.structure, options);
  const auto add = [&](const auto& records) {
    for (std::uint32_t host = 0; host < records.size(); ++host) timeline.add(host, records[host]);
  };
  for (int round = 0; round < rounds; ++round) add(run.next_round());
  add(run.thread_records());
  return timeline.finish();
}

std::size_t passes_of(const PageTimelineReport& report) {
  std::size_t passes = 0;
  for (const auto& stretch : report.stretches)
    for (const auto& round : stretch.rounds) passes += round.passes.size();
  return passes;
}

}  // namespace

TEST_CASE("page: the first and the slowest iterations are kept in full") {
  eventspace::sample::Options options;
  options.jitter = [](std::uint32_t thread, std::uint64_t iteration) {
    return thread == 3 && iteration == 700 ? 90 * ms : 0;
  };
  eventspace::sample::Run run(options);
  const auto report = timeline_of(run, 1000);
  REQUIRE(report.stretches.size() == 2);
  CHECK(report.stretches[0].is_beginning);
  CHECK(report.stretches[0].rounds.front().sequence == 0);
  CHECK(report.stretches[0].rounds.size() == PageTimelineOptions{}.iterations);
  CHECK(report.stretches[1].slowest == 700);
  CHECK(report.stretches[1].slowest_nanos > 120 * ms);
  REQUIRE(report.stretches[1].rounds.size() == 5);
  CHECK(report.stretches[1].rounds.front().sequence == 698);
  for (const auto& pass : report.stretches[1].rounds[2].passes) CHECK(pass.is_here);
}

TEST_CASE("page: the number of kept iterations is bounded even if many are slow") {
  eventspace::sample::Options options;
  options.jitter = [](std::uint32_t, std::uint64_t iteration) {
    return static_cast<std::int64_t>(iteration) * 100 * us;  // increasingly slow
  };
  eventspace::sample::Run run(options);
  PageTimelineOptions few;
  few.passes = 4000;
  const auto report = timeline_of(run, 3000, few);
  CHECK(passes_of(report) <= 2 * few.passes);
  CHECK(report.stretches.back().rounds.back().sequence == 2999);
}

TEST_CASE("page: hosts whose clocks differ by seconds are aligned within the stated bound") {
  eventspace::sample::Run run({});
  const auto report = timeline_of(run, 50);
  REQUIRE(!report.stretches.empty());
  const auto& stretch = report.stretches.front();
  CHECK(stretch.error_nanos >= 0);
  CHECK(stretch.error_nanos <= 500 * us);
  // Apart from the error of the stretch, the time of a collector includes the time of the next
  // collector further down the path.
  const eventspace::Shape shape(run.structure);
  const auto& round = stretch.rounds[10];
  for (std::size_t place = 0; place < round.passes.size(); ++place) {
    const auto& lane = shape.lanes[shape.trees[round.tree].lanes[place]];
    if (lane.below == eventspace::none) continue;
    const auto& below = round.passes[shape.lanes[lane.below].place];
    CHECK(below.down_nanos >= round.passes[place].down_nanos - 2 * stretch.error_nanos);
    CHECK(below.up_nanos <= round.passes[place].up_nanos + 2 * stretch.error_nanos);
  }
}

TEST_CASE("page: the first computation of a thread counts from its start") {
  eventspace::sample::Run run({});
  const auto report = timeline_of(run, 3);
  const eventspace::Shape shape(run.structure);
  const auto& round = report.stretches.front().rounds.front();
  for (std::size_t place = 0; place < round.passes.size(); ++place) {
    const std::uint32_t leaf = shape.lanes[shape.trees[round.tree].lanes[place]].leaf;
    if (leaf != eventspace::none) CHECK(round.passes[place].computation_nanos == 30 * ms);
  }
}

TEST_CASE("page: bins of a histogram contain every number once and can be added") {
  eventspace::Distribution few;
  eventspace::Distribution many(16);  // in ranges
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
  eventspace::Analysis analysis(run.structure);
  const auto timeline = timeline_of(run, 5);
  const std::string json = eventspace::page_json(run.structure, analysis.finish(), timeline,
                                                 {"a </script> \xff", {}, "", "", "", {}});
  const std::string data = eventspace::page_data(json);
  CHECK(data.find('<') == std::string::npos);
  // The first bytes of zlib data in base64; page_real.cpp reads the rest in a browser.
  CHECK(data.starts_with("eJ"));
  CHECK(data.size() % 4 == 0);
  CHECK(data.size() < json.size());
  const auto read = nlohmann::json::parse(json);
  CHECK(read["timeline"]["stretches"][0]["rounds"].size() == 5);
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
    CHECK_THROWS_WITH(eventspace::write_page(file, run.structure, report, {}, {}),
                      Catch::Contains("npm"));
    CHECK(!std::filesystem::exists(file));
    return;
  }
  eventspace::write_page(file, run.structure, report, {}, {});
  const std::string page = trace_sample::bytes_of(file);
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(page.find("@PATHS_DATA@") == std::string::npos);
  CHECK(page.find("The MIT License") != std::string::npos);  // license of the drawing library
  CHECK_THROWS_WITH(
      eventspace::write_page(folder.path() / "no" / "x.html", run.structure, report, {}, {}),
      Catch::Contains("x.html"));
}
