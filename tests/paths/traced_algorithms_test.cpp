// SPDX-License-Identifier: Apache-2.0
// tests/paths/traced_algorithms_test.cpp — reported figures of whole runs under each algorithm,
// compared with the runs.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "paths/run/tracing.hpp"
#include "tests/support/thrown.hpp"
#include "tests/support/traced_run.hpp"

namespace {

using namespace std::chrono_literals;
using test_support::Sim;
using trace_sample::Folder;

constexpr int iterations = 100;
constexpr std::int64_t ms = 1'000'000;

/// Report of a run in which each thread computes for 30 ms, and the three clusters are 10 ms apart.
struct Traced {
  eventspace::Report report;
  /// Time from the begin to the end of each thread, indexed by rank.
  std::vector<base::Nanos> took;
  std::uint64_t wan_messages = 0;
  std::uint64_t wan_bytes = 0;
};

Traced traced_into(const Folder& folder, const std::string& algorithm) {
  const Sim sim(R"(
clusters:
  alpha: {hosts: 2, threads: 2}
  beta: {hosts: 1, threads: 2}
  gamma: {hosts: 1, threads: 2}
links: {all: {latency: 10ms}}
collectives:
  sum: {operation: sum, template: f64, algorithm: ")" +
                    algorithm + R"(", condition: {greater: 1000}, contributions: non_negative}
)",
                test_support::traced());
  Traced run;
  run.took.resize(sim.plan().thread_count());
  test_support::run_traced(sim, folder.path(), [&run](paths::Thread& thread) {
    const base::Nanos begin = thread.now();
    for (int i = 0; i < iterations; ++i) {
      thread.sleep_for(30ms);
      thread.path("sum").move_value(1.0);
    }
    run.took[thread.rank()] = thread.now() - begin;
  });
  run.report = test_support::report_of(folder.path()).report;
  for (const auto& cluster : run.report.clusters) {
    run.wan_messages += cluster.wan_messages;
    run.wan_bytes += cluster.wan_payload_bytes;
  }
  return run;
}

Traced traced(const std::string& algorithm) {
  const Folder folder;
  return traced_into(folder, algorithm);
}

std::string message_of(const Folder& folder) {
  return test_support::thrown<std::exception>(
      [&] { const eventspace::TraceDirectory trace(folder.path()); });
}

void overwrite(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::trunc) << text;
}

}  // namespace

TEST_CASE("traced run: unchecked iterations count as iterations and their time is the run's") {
  const Traced run = traced("periodic:10");
  INFO(to_text(run.report));
  REQUIRE(run.report.critical.size() == 3);
  for (const auto& tree : run.report.critical) {
    CHECK(tree.rounds == 10);
    CHECK(tree.iterations == 100);
    CHECK(tree.iteration.count == 100);
    CHECK(tree.iteration.p50 == 30 * ms);
    // Every tenth iteration takes 40 ms instead of 30 ms, so the mean is 31 ms. All iterations
    // together take as long as the run.
    const double all = tree.iteration.mean * 100;
    CHECK(all == Approx(static_cast<double>(run.took[0].count())));
    CHECK(tree.by_cause[static_cast<std::size_t>(eventspace::Cause::computation)] == 100 * 30 * ms);
  }
  CHECK_THAT(to_text(run.report), Catch::Contains("100 iterations, 10 rounds"));
}

TEST_CASE("traced run: a tree's bytes between clusters count in both directions") {
  const Traced run = traced("sequential");
  CHECK(run.wan_messages == 2 * 2 * iterations);
  CHECK(run.wan_bytes == 2 * 2 * iterations * 8);
}

TEST_CASE("traced run: late checks report how they got the values of other clusters") {
  for (const auto& [algorithm, lag] : {std::pair{"lagged:2", 2u}, std::pair{"budget:4,2", 4u}}) {
    const Traced run = traced(algorithm);
    INFO(algorithm << "\n" << to_text(run.report, 20));
    REQUIRE(run.report.conditionals.size() == 3);
    for (const auto& check : run.report.conditionals) {
      // The first results are unchecked. All later results need the values of both other clusters,
      // which arrived long before.
      CHECK(check.operations == iterations - lag);
      CHECK(check.by_values_needed == std::vector<std::uint64_t>{0, 0, iterations - lag});
      REQUIRE(check.remotes.size() == 2);
      for (const auto& remote : check.remotes) {
        CHECK(remote.reads == iterations - lag);
        CHECK(remote.cached == iterations - lag);
        CHECK(remote.cluster != check.place.cluster);
        CHECK(remote.one_way_half_nanos == 10 * ms);
      }
    }
  }
}

TEST_CASE("traced run: pushed values are reported with the cluster they come from") {
  for (const std::string algorithm : {"exact", "conditional:demand", "conditional:subscribe:4"}) {
    const Traced run = traced(algorithm);
    INFO(algorithm << "\n" << to_text(run.report, 20));
    REQUIRE(run.report.conditionals.size() == 3);
    for (const auto& check : run.report.conditionals) {
      CHECK(check.operations == iterations);
      REQUIRE(check.remotes.size() == 2);
      for (const auto& remote : check.remotes) {
        CHECK(remote.cluster != check.place.cluster);
        CHECK(remote.reads == iterations);
        CHECK(remote.one_way_half_nanos == 10 * ms);
        CHECK(remote.cached + remote.in_flight + remote.late == remote.reads);
      }
    }
  }
}

TEST_CASE("damaged trace: a cluster without records is reported as unknown and not as 0") {
  const Folder folder;
  traced_into(folder, "magpie");
  std::filesystem::resize_file(folder.path() / "beta-0.trace", 0);
  const auto report = test_support::report_of(folder.path());
  CHECK_FALSE(is_unusable(report));
  const std::string text = to_text(report, 20);
  CHECK_THAT(text, Catch::Contains("sum in 2 clusters: 100 rounds"));
  CHECK_THAT(text, Catch::Contains("not known of beta"));
  CHECK_THAT(text, Catch::Contains("not one record of 1 host: beta-0"));
  CHECK_THAT(text, !Catch::Contains("iteration: median 0.000"));
}

TEST_CASE("damaged trace: a trace without usable records is reported as such") {
  const Folder folder;
  traced_into(folder, "sequential");
  for (const auto& file : std::filesystem::directory_iterator(folder.path()))
    if (file.path().extension() == ".trace") std::filesystem::resize_file(file.path(), 30);
  const auto report = test_support::report_of(folder.path());
  CHECK(is_unusable(report));
  CHECK_THAT(to_text(report), Catch::Contains("Nothing is known"));
  CHECK_THAT(to_text(report), !Catch::Contains("is like its equals"));
}

TEST_CASE("damaged trace: an invalid file is omitted and named unless all files are invalid") {
  const Folder folder;
  traced_into(folder, "sequential");
  overwrite(folder.path() / "alpha-1.trace", "garbage, and more of it");
  const auto report = test_support::report_of(folder.path());
  CHECK(report.missing_hosts == std::vector<std::string>{"alpha-1"});
  CHECK_THAT(to_text(report), Catch::Contains("alpha-1.trace: is no trace of PATHS"));
  CHECK_FALSE(is_unusable(report));
  for (const auto& file : std::filesystem::directory_iterator(folder.path()))
    if (file.path().extension() == ".trace") overwrite(file.path(), "garbage, and more of it");
  CHECK_THAT(message_of(folder), Catch::Contains("beta-0.trace: is no trace of PATHS"));
}

TEST_CASE("damaged trace: the error about a truncated structure has its position") {
  const Folder folder;
  traced_into(folder, "sequential");
  const auto structure = folder.path() / "structure.json";
  std::filesystem::resize_file(structure, std::filesystem::file_size(structure) / 2);
  CHECK_THAT(message_of(folder), Catch::Contains("ends in the middle, in line"));
  CHECK_THAT(message_of(folder), !Catch::Contains("exception"));
  overwrite(structure, "{\"version\": 1}");
  CHECK_THAT(message_of(folder), !Catch::Contains("json.exception"));
}

TEST_CASE("damaged trace: of hosts that did not end the one whose records end first is named") {
  const Folder folder;
  traced_into(folder, "sequential");
  // Removes the end of the trace: one chunk, which consists of a head and of 16 bytes with the
  // totals of the only record buffer. Results are made in a join of alpha. They reach beta 10 ms
  // later than they reach alpha.
  for (const std::string host : {"beta-0", "alpha-1"}) {
    const auto file = folder.path() / (host + ".trace");
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 72);
  }
  const auto report = test_support::report_of(folder.path());
  CHECK(report.not_ended == std::vector<std::string>{"alpha-1", "beta-0"});
  CHECK(report.first_by_nanos == 10 * ms);
  CHECK_THAT(to_text(report, 5),
             Catch::Contains("2 hosts did not end") &&
                 Catch::Contains("the records of alpha-1 end first, 10 ms before the next one's"));
}
