// SPDX-License-Identifier: Apache-2.0
// tests/messages/transfers_test.cpp — reports on transfers between clusters in traced runs,
// compared with results that were computed by hand.
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "groups/group.hpp"
#include "tests/support/traced_run.hpp"

namespace {

using eventspace::TransferBasis;
using eventspace::TransferReport;
using eventspace::TransfersReport;
using test_support::TracedRun;
using Point = TransferReport::Point;

constexpr std::int64_t ms = 1'000'000;

/// Returns the config of two clusters of three hosts each, connected by `link`.
std::string two_clusters(const std::string& link, const std::string& uplink,
                         const std::string& lanes) {
  return "clusters:\n  alpha: {hosts: 3" + uplink + "}\n  beta: {hosts: 3" + uplink +
         "}\nlinks: [{between: [alpha, beta], " + link + "}]\nlanes: {" + lanes + "}\n";
}

/// Sends a message of `bytes` bytes from each host of alpha to the host of beta with the same
/// number, which receives it immediately. Returns the report.
TransfersReport across(const std::string& config, std::size_t bytes) {
  const TracedRun run(config, [bytes](paths::Thread& thread) {
    const std::string& name = thread.host().name();
    const std::string number = name.substr(name.find('-') + 1);
    const auto group =
        thread.host().lanes().group_of(number, {"alpha-" + number, "beta-" + number});
    const bool sends = name.starts_with("alpha");
    const std::uint32_t me = thread.host().index();
    const std::uint32_t peer = sends ? me + 3 : me - 3;
    if (sends) {
      group->send(peer, 0, base::Payload::of(std::vector<std::byte>(bytes))).wait();
    } else {
      group->receive(peer, 0).wait();
    }
    group->leave();
  });
  return run.report().report.transfers;
}

/// Sizes of messages in KiB, by sender and receiver.
using Traffic = std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::size_t>>;

Traffic random_traffic(std::mt19937_64& random, std::uint32_t hosts) {
  const auto below = [&](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
  };
  Traffic traffic;
  for (std::uint32_t from = 0; from < hosts; ++from)
    for (std::uint32_t to = 0; to < hosts; ++to)
      for (std::size_t more = from == to ? 0 : below(4); more > 0; --more)
        traffic[{from, to}].push_back(1 + below(5));
  return traffic;
}

/// Sends all messages of `traffic` at the same time. Returns the report.
TransfersReport exchanged(const std::string& config, const Traffic& traffic) {
  const TracedRun run(config, [&traffic](paths::Thread& thread) {
    std::vector<std::string> names;
    for (const auto& host : thread.host().plan().hosts) names.push_back(host.name);
    const auto group = thread.host().lanes().group_of("all", names);
    const std::uint32_t me = thread.host().index();
    std::vector<runtime::Handle<void>> sent;
    std::vector<runtime::Handle<paths::Received>> received;
    for (const auto& [ends, messages] : traffic)
      for (const std::size_t kib : messages) {
        if (ends.first == me)
          sent.push_back(
              group->send(ends.second, 0, base::Payload::of(std::vector<std::byte>(kib * 1024))));
        if (ends.second == me) received.push_back(group->receive(ends.first, 0));
      }
    for (auto& one : received) one.wait();
    for (auto& one : sent) one.wait();
    group->leave();
  });
  return run.report().report.transfers;
}

/// Returns the points of a transfer, with times relative to the transfer's first time.
std::vector<Point> since_first(const TransferReport& one) {
  std::vector<Point> points = one.points;
  for (Point& point : points) point.begin_nanos -= one.first_nanos;
  return points;
}

const TransferReport& path_of(const TransfersReport& report, const std::string& from) {
  for (const TransferReport& one : report.paths)
    if (one.from == from) return one;
  FAIL("no path from " << from);
  return report.all;
}

}  // namespace

TEST_CASE("transfers of a run: three messages share two streams through switches or exits") {
  // 1000 bytes at 8 Mbit/s occupy one of two streams for 1 ms, so the third message waits 1 ms.
  const std::string link = "latency: 10ms, stream_rate: 8Mbit, streams: 2";
  for (const std::string uplink : {", uplink: switch", ""}) {
    INFO("uplink '" << uplink << "'");
    const TransfersReport report = across(two_clusters(link, uplink, "frame: unlimited"), 1'000);
    REQUIRE(report.paths.size() == 2);
    const TransferReport& there = path_of(report, "alpha");
    CHECK(there.basis == TransferBasis::streams);
    CHECK(there.streams == 2);
    CHECK(there.messages == 3);
    CHECK(there.bytes == 3'000);
    CHECK(there.used_nanos == 3 * ms);
    CHECK(there.most == 2);
    CHECK(there.mean_within == 1.5);
    // Each message occupies a stream for 1 ms and arrives 10 ms later: 3 * 11 ms in total.
    CHECK(there.mean_until_arrived * static_cast<double>(report.run_nanos) == Approx(33 * ms));
    CHECK(there.last_nanos - there.first_nanos == 2 * ms);
    CHECK(since_first(there) == std::vector<Point>{{0, 2, 2}, {1 * ms, 1, 1}, {2 * ms, 0, 0}});
    CHECK(there.all_share ==
          Approx(static_cast<double>(1 * ms) / static_cast<double>(report.run_nanos)));
    CHECK(there.some_share == Approx(2 * *there.all_share));
    CHECK(path_of(report, "beta").messages == 0);
    CHECK(path_of(report, "beta").none_share == 1);
  }
}

TEST_CASE("transfers of a run: frames take turns on streams and count as one message") {
  // 4096 bytes are four frames of 1 ms each. Two pairs of hosts have one stream each. The third
  // pair waits for both.
  const TransfersReport report =
      across(two_clusters("latency: 10ms, stream_rate: 8.192Mbit, streams: 2", ", uplink: switch",
                          "frame: 1KiB"),
             4'096);
  const TransferReport& there = path_of(report, "alpha");
  CHECK(there.messages == 3);
  CHECK(there.bytes == 3 * 4'096);
  CHECK(there.used_nanos == 12 * ms);
  CHECK(there.most == 2);
}

TEST_CASE(
    "transfers of a run: at most all streams are in use and each is in use as long as its frames "
    "take") {
  const std::uint64_t seed = Catch::rngSeed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const int streams = GENERATE(1, 2, 5);
  const std::string uplink = GENERATE("", ", uplink: switch");
  const std::string frame = GENERATE("frame: 1KiB", "frame: 2KiB, striping: 2", "frame: unlimited");
  INFO(streams << " streams" << uplink << ", " << frame);
  const Traffic traffic = random_traffic(random, 6);
  const TransfersReport report = exchanged(
      two_clusters(fmt::format("latency: 3ms, stream_rate: 8.192Mbit, streams: {}", streams),
                   uplink, frame),
      traffic);
  for (const std::uint32_t side : {0u, 1u}) {
    std::size_t messages = 0, kib = 0;
    for (const auto& [ends, sizes] : traffic) {
      if (ends.first / 3 != side || ends.second / 3 == side) continue;
      messages += sizes.size();
      kib += std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    }
    const TransferReport& path = path_of(report, side == 0 ? "alpha" : "beta");
    CHECK(path.messages == messages);
    CHECK(path.bytes == kib * 1024);
    CHECK(path.used_nanos == static_cast<std::int64_t>(kib) * ms);  // 1 KiB takes 1 ms
    CHECK(path.most <= static_cast<std::uint64_t>(streams));
    CHECK(path.mean <= streams);
    CHECK(*path.all_share <= path.some_share);
  }
}

TEST_CASE("transfers of a run: without streams a message is under way until it has arrived") {
  // The messages occupy the link one after another, for 4 ms each. Each message arrives 10 ms after
  // it has left the link.
  for (const std::string frame : {"frame: unlimited", "frame: 1KiB"}) {
    INFO(frame);
    const TransfersReport report =
        across(two_clusters("latency: 10ms, bandwidth: 8.192Mbit", "", frame), 4'096);
    REQUIRE(report.paths.size() == 1);
    const TransferReport& there = report.paths[0];
    CHECK(there.basis == TransferBasis::messages);
    CHECK_FALSE(there.all_share);
    CHECK(there.messages == 3);
    CHECK(there.bytes == 3 * 4'096);
    CHECK(there.last_nanos - there.first_nanos == 22 * ms);
    CHECK(there.most == 3);
    if (frame != "frame: unlimited") continue;
    CHECK(there.used_nanos == 42 * ms);
    CHECK(since_first(there) == std::vector<Point>{{0, 1, 1},
                                                   {4 * ms, 2, 2},
                                                   {8 * ms, 3, 3},
                                                   {14 * ms, 2, 2},
                                                   {18 * ms, 1, 1},
                                                   {22 * ms, 0, 0}});
  }
}

TEST_CASE("transfers of a run: a round of a declared path crosses in each direction once") {
  const int rounds = 5;
  for (const std::string instrument : {"true", "false"}) {
    INFO("instrument " << instrument);
    const TracedRun run(R"(
clusters:
  alpha: {hosts: 2}
  beta: {hosts: 1}
links: [{between: [alpha, beta], latency: 10ms}]
collectives:
  sum: {operation: sum, template: f64, algorithm: sequential, instrument: )" +
                            instrument + "}\n",
                        [&](paths::Thread& thread) {
                          for (int round = 0; round < rounds; ++round)
                            thread.path("sum").move_value(1.0);
                        });
    const TransfersReport report = run.report().report.transfers;
    CHECK(report.run_nanos == rounds * 20 * ms);
    REQUIRE(report.paths.size() == 2);
    for (const TransferReport& one : report.paths) {
      CHECK(one.basis == TransferBasis::messages);
      CHECK(one.messages == rounds);
      CHECK(one.bytes == rounds * 8);
      CHECK(one.used_nanos == rounds * 10 * ms);
      CHECK(one.most == 1);
      CHECK(one.mean == 0.5);
      CHECK(one.some_share == 0.5);
    }
    CHECK(report.all.most == 1);
    CHECK(report.all.mean == 1);
    CHECK(report.all.none_share == 0);
    CHECK(report.all.points == std::vector<Point>{{0, 1, 1}, {rounds * 20 * ms, 0, 0}});
  }
}

TEST_CASE("transfers of a run: operations of groups cross as often as their steps say") {
  for (const std::string link : {"latency: 10ms, stream_rate: 8Mbit, streams: 2",
                                 "latency: 10ms, bandwidth: 8Mbit", "latency: 0ms"}) {
    INFO(link);
    const TracedRun run(two_clusters(link, "", "frame: unlimited"), [](paths::Thread& thread) {
      groups::Group world(thread);
      std::vector<std::int32_t> mine(1000, 1), all(1000);
      world.run(groups::allreduce(mine, all, "sum"));
      world.run(groups::broadcast(mine, 2));
    });
    const eventspace::Report report = run.report().report;
    std::uint64_t messages = 0, bytes = 0;
    for (const auto& one : report.groups.clusters) {
      if (!one.is_wan) continue;
      messages += one.messages;
      bytes += one.bytes;
    }
    CHECK(messages > 0);
    CHECK(report.transfers.all.messages == messages);
    CHECK(report.transfers.all.bytes == bytes);
  }
}
