// SPDX-License-Identifier: Apache-2.0
// tests/page/page_real.cpp — the page in a browser, with few and with very many threads.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/output_file.hpp"
#include "eventspace/analysis/analysis.hpp"
#include "eventspace/page/page.hpp"
#include "eventspace/transfer_record.hpp"
#include "tests/eventspace/sample_run.hpp"
#include "tests/eventspace/trace_sample.hpp"
#include "tests/support/skip.hpp"

namespace {

using eventspace::sample::ms;

/// Writes the page of an invented run. Each link between clusters has `streams` streams. Successive
/// frames use the streams in turn.
void write_page_of(const std::filesystem::path& file, eventspace::sample::Options options,
                   int rounds, std::uint32_t streams = 0, std::vector<std::string> losses = {}) {
  options.has_common_clock = streams > 0;
  eventspace::sample::Run run(options);
  const auto clusters = static_cast<std::uint32_t>(run.structure.clusters.size());
  for (std::uint32_t from = 0; streams > 0 && from < clusters; ++from)
    for (std::uint32_t to = 0; to < clusters; ++to)
      if (from != to) run.structure.streams.push_back({from, to, streams});
  eventspace::AnalysisOptions analysed;
  analysed.has_common_clock = streams > 0;
  // Asks for predictions only if there are streams. Predictions need a common clock, which the runs
  // without streams do not have.
  if (streams > 0) analysed.questions = {{"link:*.latency=5ms"}, {}, true};
  analysed.timeline_parts = eventspace::page_timeline_parts;
  eventspace::Analysis analysis(run.structure, analysed);
  const auto add = [&](const auto& records) {
    for (std::uint32_t host = 0; host < records.size(); ++host) analysis.add(host, records[host]);
  };
  for (int round = 0; round < rounds; ++round) add(run.next_round());
  add(run.thread_records());
  for (const auto& one : run.structure.streams)
    for (std::uint32_t frame = 0; frame < 3 * streams; ++frame) {
      const std::uint32_t from = one.from * (options.hosts + 1);
      const std::int64_t begin = frame * (1 + one.from + one.to) * 1000 * ms;
      analysis.add(from, std::vector{record_of(eventspace::Transfer{
                             from, one.to * (options.hosts + 1), 1000, true, true, begin,
                             begin + 8000 * ms, begin + 9000 * ms})});
    }
  eventspace::PageHead head;
  head.title = file.stem().string();
  head.command = {"noise_allreduce"};
  head.clock = "steady";
  head.losses = std::move(losses);
  const eventspace::Report report = analysis.finish();
  eventspace::write_page(file, run.structure, report, head);
  const auto write = [&](const char* extension, const std::string& content) {
    base::write_file(std::filesystem::path(file).replace_extension(extension).string(), content);
  };
  write("txt", eventspace::to_text(report, 40));
  write("json", eventspace::print_json(to_json(report)));
}

/// Writes the page of four clusters with a slow host, a noisy thread and a slow link.
void write_sample(const std::filesystem::path& file, std::uint32_t hosts, std::uint32_t threads,
                  int rounds, std::uint32_t streams = 0) {
  eventspace::sample::Options options;
  options.clusters = {"alpha", "beta", "gamma", "delta"};
  options.hosts = hosts;
  options.threads = threads;
  options.slow_hosts = {{"beta-1", 1.2}};
  options.noise = {{3, 5 * ms, 100 * ms, 7 * ms}};
  options.slow_links = {{"wan.gamma.alpha", 2}};
  options.jitter = [](std::uint32_t thread, std::uint64_t iteration) {
    const std::uint64_t mixed = (thread + 1) * 2654435761u ^ iteration * 0x9e3779b97f4a7c15;
    const std::int64_t spike = thread == 9 && iteration % 100 == 99 ? 20 * ms : 0;
    return spike + static_cast<std::int64_t>((mixed >> 29) % 300'000);
  };
  write_page_of(file, options, rounds, streams);
}

bool has_browser() {
  const char* chromium = std::getenv("CHROMIUM");
  return !eventspace::page_template().empty() && !std::string(PATHS_PAGE_TEST_PACKAGES).empty() &&
         std::filesystem::exists(chromium != nullptr ? chromium : "/usr/bin/chromium");
}

}  // namespace

TEST_CASE("page: a browser opens it from disk without errors even with 10000 threads") {
  const char* driver = PATHS_SOURCE_DIR "/tests/page/drive.mjs";
  const std::string packages = PATHS_PAGE_TEST_PACKAGES;
  if (!has_browser()) return test_support::skip("page (Node.js, Chromium)");
  const trace_sample::Folder folder;
  std::filesystem::create_directories(folder.path());
  const std::filesystem::path few = folder.path() / "threads-140.html";
  const std::filesystem::path streams = folder.path() / "streams.html";
  const std::filesystem::path many = folder.path() / "threads-10000.html";
  write_sample(few, 7, 5, 400);
  write_sample(streams, 2, 2, 50, 4);
  write_sample(many, 500, 5, 20);
  const std::filesystem::path changed = folder.path() / "changed.html";
  eventspace::sample::Options options;
  options.jitter = [](std::uint32_t thread, std::uint64_t iteration) {
    return thread == 3 && iteration >= 60 ? 10 * ms : 0;
  };
  write_page_of(changed, options, 100, 1,
                {"no file of 1 host: beta-3", "beta-1: 3 damaged places"});
  const std::string command = "PATHS_PAGE_TEST_PACKAGES='" + packages + "' node '" + driver +
                              "' '" + few.string() + "' '" + streams.string() + "' '" +
                              many.string() + "' '" + changed.string() + "'";
  CHECK(std::system(command.c_str()) == 0);
}

TEST_CASE("page: its words and figures are those of the text and of the JSON") {
  if (!has_browser()) return test_support::skip("page (Node.js, Chromium)");
  const trace_sample::Folder folder;
  std::filesystem::create_directories(folder.path());
  write_sample(folder.path() / "steady.html", 2, 2, 100);
  write_sample(folder.path() / "virtual.html", 2, 2, 100, 4);
  eventspace::sample::Options equal;
  equal.has_common_clock = true;
  write_page_of(folder.path() / "equal.html", equal, 50, 1);
  for (const char* name : {"steady", "virtual", "equal"}) {
    const std::string file = (folder.path() / name).string();
    const std::string command = "PATHS_PAGE_TEST_PACKAGES='" PATHS_PAGE_TEST_PACKAGES
                                "' node '" PATHS_SOURCE_DIR "/tests/page/words.mjs' '" +
                                file + ".html' '" + file + ".txt' '" + file + ".json'";
    CHECK(std::system(command.c_str()) == 0);
  }
}

TEST_CASE("page: no edge is drawn as late by chance but those of a slow host are") {
  if (!has_browser()) return test_support::skip("page (Node.js, Chromium)");
  const trace_sample::Folder folder;
  std::filesystem::create_directories(folder.path());
  eventspace::sample::Options options;
  options.hosts = 6;
  options.threads = 4;
  options.lan = options.wan = options.join = 0;
  // All threads arrive at the same time. One thread is recorded as the last thread to arrive, but
  // no thread waits for it.
  write_page_of(folder.path() / "together.html", options, 100);
  options.slow_hosts = {{"beta-1", 1.2}};
  write_page_of(folder.path() / "slow.html", options, 100);
  const std::string command =
      std::string("PATHS_PAGE_TEST_PACKAGES='" PATHS_PAGE_TEST_PACKAGES "' node '") +
      PATHS_SOURCE_DIR "/tests/page/edges.mjs' " + (folder.path() / "together.html=0").string() +
      " " + (folder.path() / "slow.html=2").string();
  CHECK(std::system(command.c_str()) == 0);
}
