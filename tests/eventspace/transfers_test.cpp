// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/transfers_test.cpp — numbers of simultaneous transfers between clusters,
// compared with numbers that were found by hand or by counting.
#include "eventspace/analysis/metrics/transfers.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "eventspace/analysis/analysis.hpp"
#include "eventspace/transfer_record.hpp"

namespace {

using eventspace::Analysis;
using eventspace::AnalysisOptions;
using eventspace::EventRecord;
using eventspace::Structure;
using eventspace::Transfer;
using eventspace::TransferReport;
using eventspace::TransfersReport;
using Point = TransferReport::Point;

/// Returns a structure with this many clusters. Each has two hosts with one thread each.
Structure clusters_of_two(std::uint32_t clusters) {
  Structure structure;
  for (std::uint32_t cluster = 0; cluster < clusters; ++cluster) {
    structure.clusters.push_back(std::string(1, static_cast<char>('a' + cluster)));
    for (std::uint32_t host = 0; host < 2; ++host)
      structure.hosts.push_back(
          {structure.clusters.back() + std::to_string(host), cluster, 2 * cluster + host, 1});
  }
  return structure;
}

EventRecord life(std::int64_t begin, std::int64_t end) {
  EventRecord record;
  record.kind = static_cast<std::uint64_t>(eventspace::EventKind::thread);
  record.down_nanos = begin;
  record.up_nanos = end;
  return record;
}

Transfer streamed(std::uint32_t from, std::uint32_t to, std::int64_t begin, std::int64_t end) {
  return {from, to, 100, true, true, begin, end, end + 10};
}

TransfersReport report_of(const Structure& structure, const std::vector<Transfer>& transfers,
                          std::int64_t run_end, std::size_t changes = 4'000'000) {
  AnalysisOptions options;
  options.has_common_clock = true;
  options.transfer_changes = changes;
  Analysis analysis(structure, options);
  const std::vector<EventRecord> lives = {life(0, run_end)};
  analysis.add(0, lives);
  for (const Transfer& transfer : transfers)
    analysis.add(transfer.from_host, std::vector<EventRecord>{record_of(transfer)});
  return analysis.finish().transfers;
}

/// Returns the largest number of transfers that are under way at the same time. A transfer that
/// ends at an instant does not overlap with a transfer that begins at this instant.
std::uint64_t most_of(const std::vector<Transfer>& transfers) {
  std::uint64_t most = 0;
  for (const Transfer& one : transfers)
    most = std::max(most, static_cast<std::uint64_t>(std::count_if(
                              transfers.begin(), transfers.end(), [&](const Transfer& other) {
                                return other.begin_nanos <= one.begin_nanos &&
                                       one.begin_nanos < other.end_nanos &&
                                       one.begin_nanos < one.end_nanos;
                              })));
  return most;
}

double integral_of(const TransferReport& report) {
  double integral = 0;
  for (std::size_t place = 1; place < report.points.size(); ++place)
    integral +=
        report.points[place - 1].mean * static_cast<double>(report.points[place].begin_nanos -
                                                            report.points[place - 1].begin_nanos);
  return integral;
}

std::vector<Transfer> random_transfers(std::mt19937_64& random, std::size_t count,
                                       std::uint32_t hosts, std::int64_t span,
                                       std::int64_t longest) {
  std::vector<Transfer> all;
  const auto below = [&](std::int64_t end) {
    return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random);
  };
  while (all.size() < count) {
    const auto from = static_cast<std::uint32_t>(below(hosts));
    const auto to = static_cast<std::uint32_t>(below(hosts));
    if (from / 2 == to / 2) continue;
    const std::int64_t begin = below(span);
    all.push_back(streamed(from, to, begin, begin + below(longest)));
  }
  return all;
}

}  // namespace

TEST_CASE("transfer records: a transfer is unchanged after encoding and decoding") {
  for (const bool has_stream : {false, true})
    for (const bool ends : {false, true}) {
      const Transfer one{3, (1u << 24) - 1, (std::uint64_t{1} << 40) - 2, has_stream, ends, -5,
                         7, 1'000'000};
      const EventRecord record = record_of(one);
      REQUIRE(is_transfer(record));
      const Transfer again = transfer_of(record);
      CHECK(again.from_host == one.from_host);
      CHECK(again.to_host == one.to_host);
      CHECK(again.bytes == one.bytes);
      CHECK(again.has_stream == has_stream);
      CHECK(again.ends_message == ends);
      CHECK(again.begin_nanos == one.begin_nanos);
      CHECK(again.end_nanos == one.end_nanos);
      CHECK(again.arrived_nanos == one.arrived_nanos);
    }
}

TEST_CASE("transfers: three messages over two streams match hand-computed figures") {
  Structure structure = clusters_of_two(2);
  structure.streams = {{0, 1, 2}, {1, 0, 2}};
  const TransfersReport report = report_of(
      structure, {streamed(0, 2, 0, 100), streamed(1, 3, 50, 150), streamed(0, 3, 100, 200)}, 400);
  CHECK(report.run_nanos == 400);
  CHECK(report.late == 0);
  REQUIRE(report.paths.size() == 2);
  const TransferReport& there = report.paths[0];
  CHECK((there.from == "a" && there.to == "b"));
  CHECK(there.basis == eventspace::TransferBasis::streams);
  CHECK(there.streams == 2);
  CHECK(there.messages == 3);
  CHECK(there.bytes == 300);
  CHECK(there.first_nanos == 0);
  CHECK(there.last_nanos == 200);
  CHECK(there.used_nanos == 300);
  CHECK(there.most == 2);
  CHECK(there.mean == 0.75);
  CHECK(there.mean_within == 1.5);
  CHECK(there.mean_until_arrived == 330. / 400);
  CHECK(there.none_share == 0.5);
  CHECK(there.some_share == 0.5);
  CHECK(there.all_share == 0.25);
  CHECK(there.points == std::vector<Point>{{0, 1, 1}, {50, 2, 2}, {150, 1, 1}, {200, 0, 0}});
  const TransferReport& back = report.paths[1];
  CHECK(back.messages == 0);
  CHECK(back.none_share == 1);
  CHECK(back.all_share == 0.0);
  CHECK(back.points.empty());
  CHECK(report.all.points == there.points);
  CHECK(report.all.most == 2);
}

TEST_CASE("transfers: each path and the total are counted and frames of a message count once") {
  const Structure structure = clusters_of_two(3);
  Transfer first = streamed(0, 2, 10, 20), second = streamed(0, 2, 30, 40);
  first.ends_message = false;
  const TransfersReport report =
      report_of(structure, {first, second, streamed(4, 0, 15, 35), streamed(2, 0, 15, 35)}, 40);
  REQUIRE(report.paths.size() == 3);
  CHECK(report.paths[0].messages == 1);
  CHECK(report.paths[0].bytes == 200);
  CHECK(report.paths[0].streams == 0);
  CHECK_FALSE(report.paths[0].all_share);
  CHECK(report.all.messages == 3);
  CHECK(report.all.most == 3);
  CHECK(report.all.mean == 60. / 40);
  CHECK(report.all.some_share == 0.75);
  CHECK(report.all.points ==
        std::vector<Point>{{10, 1, 1}, {15, 3, 3}, {20, 2, 2}, {30, 3, 3}, {35, 1, 1}, {40, 0, 0}});
}

TEST_CASE("transfers: streams are unknown for messages of which only the end is recorded") {
  Structure structure = clusters_of_two(2);
  structure.streams = {{.from = 0, .to = 1, .count = 2}, {.from = 1, .to = 0, .count = 2}};
  const eventspace::Shape shape(structure);
  eventspace::Transfers transfers(shape, true, 100);
  transfers.see(0, 100);
  for (const std::int64_t begin : {10, 20, 30}) transfers.add_message(0, 2, begin, 50, 100);
  transfers.add(streamed(2, 0, 10, 20));
  const TransfersReport report = transfers.finish();
  REQUIRE(report.paths.size() == 2);
  CHECK(report.paths[0].basis == eventspace::TransferBasis::ends);
  CHECK(report.paths[0].most == 3);
  CHECK(report.paths[0].streams == 0);
  CHECK_FALSE(report.paths[0].all_share);
  CHECK(report.paths[1].basis == eventspace::TransferBasis::streams);
  CHECK(report.paths[1].streams == 2);
}

TEST_CASE("transfers: one cluster has none and hosts without a common clock have unknown ones") {
  CHECK_FALSE(report_of(clusters_of_two(1), {}, 10).has_several_clusters);
  const Structure structure = clusters_of_two(2);
  Analysis analysis(structure);
  analysis.add(0, std::vector<EventRecord>{record_of(streamed(0, 2, 0, 5))});
  const TransfersReport report = analysis.finish().transfers;
  CHECK(report.has_several_clusters);
  CHECK_FALSE(report.has_common_clock);
  CHECK(report.paths.empty());
}

TEST_CASE("transfers: a record of an unknown host counts as unknown") {
  const Structure structure = clusters_of_two(2);
  AnalysisOptions options;
  options.has_common_clock = true;
  Analysis analysis(structure, options);
  analysis.add(0, std::vector<EventRecord>{record_of(streamed(0, 4, 0, 5)),
                                           record_of(streamed(4, 0, 0, 5))});
  CHECK(analysis.finish().coverage.unknown == 2);
}

TEST_CASE("transfers: the integral over time is the sum of durations and the maximum is counted") {
  const std::uint64_t seed = Catch::rngSeed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (const std::int64_t longest : {1, 3, 1'000, 200'000}) {
    INFO("at most " << longest << " ns each");
    const auto transfers = random_transfers(random, 3'000, 6, 100'000, longest);
    const TransfersReport report = report_of(clusters_of_two(3), transfers, 300'000);
    std::map<std::pair<std::string, std::string>, std::vector<Transfer>> by_path;
    const auto name = [](std::uint32_t host) { return std::string(1, "abc"[host / 2]); };
    for (const Transfer& one : transfers)
      by_path[{name(one.from_host), name(one.to_host)}].push_back(one);
    REQUIRE(report.paths.size() == by_path.size());
    const auto check = [](const TransferReport& found, const std::vector<Transfer>& meant) {
      std::int64_t durations = 0;
      for (const Transfer& one : meant) durations += one.end_nanos - one.begin_nanos;
      CHECK(found.messages == meant.size());
      CHECK(found.used_nanos == durations);
      CHECK(found.most == most_of(meant));
      CHECK(integral_of(found) == Approx(static_cast<double>(durations)).epsilon(1e-9));
      CHECK(found.mean == Approx(static_cast<double>(durations) / 300'000));
      CHECK(found.points.size() <= eventspace::transfer_points_max + 1);
      std::uint64_t most = 0;
      for (const Point& point : found.points) most = std::max(most, point.most);
      CHECK(most == found.most);
    };
    for (const TransferReport& one : report.paths) check(one, by_path[{one.from, one.to}]);
    check(report.all, transfers);
  }
}

TEST_CASE("transfers: little memory gives the same result for nearly ordered records") {
  const std::uint64_t seed = Catch::rngSeed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  auto transfers = random_transfers(random, 5'000, 4, 1'000'000, 500);
  std::sort(transfers.begin(), transfers.end(), [](const Transfer& one, const Transfer& other) {
    return one.end_nanos < other.end_nanos;
  });
  const TransfersReport much = report_of(clusters_of_two(2), transfers, 1'000'500);
  const TransfersReport little = report_of(clusters_of_two(2), transfers, 1'000'500, 500);
  CHECK(little.late == 0);
  CHECK(little.all.most == much.all.most);
  CHECK(little.all.used_nanos == much.all.used_nanos);
  CHECK(little.all.some_share == much.all.some_share);
  CHECK(little.all.points == much.all.points);
}

TEST_CASE(
    "transfers: a transfer that arrives too late is counted and its time included in the average") {
  std::vector<Transfer> transfers;
  for (std::int64_t number = 0; number < 8; ++number)
    transfers.push_back(streamed(0, 2, 100 * number, 100 * number + 50));
  // The report has already counted the time of this transfer when the transfer is added. The
  // maximum therefore does not include this transfer.
  transfers.push_back(streamed(1, 3, 0, 40));
  const TransfersReport report = report_of(clusters_of_two(2), transfers, 1'000, 8);
  CHECK(report.late == 1);
  CHECK(report.all.used_nanos == 8 * 50 + 40);
  CHECK(report.all.mean == Approx(0.44));
  CHECK(report.all.most == 1);
}
