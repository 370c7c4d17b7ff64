// SPDX-License-Identifier: Apache-2.0
// tests/paths/lanes_config_test.cpp — settings of lanes, and routes of messages, in configs.
#include <catch2/catch.hpp>
#include <string>

#include "paths/links/emulated_links.hpp"
#include "tests/support/read_config.hpp"

namespace {

using namespace test_support;

std::vector<std::string> steps(const paths::Plan& plan, const std::string& from,
                               const std::string& to) {
  std::vector<std::string> all;
  for (const paths::Hop& hop : way_between(plan, *plan.host_named(from), *plan.host_named(to))) {
    all.push_back(plan.hosts[hop.to].name);
    for (const paths::HopLink* const link : {&hop.outgoing, &hop.across, &hop.receiving})
      if (link->is_there()) all.back() += " over " + link->name;
  }
  return all;
}

}  // namespace

TEST_CASE("lanes: every config of clusters has the ways over the links that its paths cross") {
  const std::string text =
      "clusters:\n  alpha: {hosts: 2, gateway: gate, network: {latency: 50us}}\n"
      "  beta: {hosts: 2}\nlinks:\n  - {between: [alpha, beta], latency: 10ms}\n";
  const paths::Plan plan = read_config(text);
  REQUIRE(plan.ways);
  CHECK_FALSE(plan.lanes.is_written);
  CHECK(steps(plan, "alpha-0", "beta-1") == std::vector<std::string>{"gate over network.alpha-0",
                                                                     "beta-0 over wan.alpha.beta",
                                                                     "beta-1"});
  CHECK(steps(plan, "beta-0", "alpha-1") ==
        std::vector<std::string>{"gate over wan.beta.alpha", "alpha-1 over network.gate"});
  CHECK(steps(plan, "alpha-1", "alpha-0") ==
        std::vector<std::string>{"alpha-0 over network.alpha-1"});
  CHECK(steps(plan, "beta-0", "beta-0").empty());
}

TEST_CASE("lanes: ways are printed and part of the plan only with the key lanes") {
  const std::string text =
      "clusters:\n  alpha: {hosts: 2, gateway: gate, network: {latency: 50us}}\n"
      "  beta: {hosts: 2}\n  gamma: {hosts: 1}\n"
      "links:\n  - {between: [alpha, beta], latency: 10ms}\n"
      "  - {between: [beta, gamma]}\n";
  const paths::Plan before = read_config(text), plan = read_config(text + "lanes: {inbox: 1MiB}\n");
  CHECK_FALSE(before.digest == plan.digest);
  const std::string low_level = low_level_of(plan);
  CHECK_THAT(low_level, Catch::Contains("lanes: {inbox: 1MiB, frame: 64KiB}\n"));
  CHECK_THAT(low_level_of(before), !Catch::Contains("lanes") && !Catch::Contains("ways"));
  const paths::Plan again = read_config(low_level);
  CHECK(again.digest == plan.digest);
  CHECK(again.lanes == plan.lanes);
  CHECK(steps(again, "alpha-0", "beta-1") == steps(plan, "alpha-0", "beta-1"));
  CHECK(steps(again, "beta-1", "gamma-0") == std::vector<std::string>{"beta-0", "gamma-0"});
  CHECK_THAT(missing_way(again, *again.host_named("alpha-0"), *again.host_named("gamma-0")),
             Catch::Contains("no link from cluster alpha to cluster gamma"));
}

TEST_CASE("lanes: frames may be unlimited") {
  const std::string text = "clusters:\n  alpha: {hosts: 2}\n";
  const paths::Plan plan = read_config(text + "lanes: {frame: unlimited}\n");
  CHECK(plan.lanes.frame_bytes == 0);
  CHECK(read_config(low_level_of(plan)).digest == plan.digest);
  CHECK(read_config(text + "lanes:\n").lanes.is_written);
}

TEST_CASE("lanes: mistakes are reported with their positions") {
  const std::string text = "clusters:\n  alpha: {hosts: 2}\n";
  CHECK_THROWS_WITH(read_config(text + "lanes: {frame: 12B}\n"),
                    Catch::Contains("test.yaml:3:16: frame: expected a size from 1KiB to 1GiB"));
  CHECK_THROWS_WITH(read_config(text + "lanes: {inbx: 12B}\n"),
                    Catch::Contains("did you mean 'inbox'"));
  const std::string low = "hosts:\n  one: {cluster: a}\n  two: {cluster: b}\n";
  CHECK_THROWS_WITH(read_config(low + "ways: {a: {exit: one}, b: {exit: two}}\n"),
                    Catch::Contains("ways: expected also the key lanes"));
  CHECK_THROWS_WITH(read_config(low + "lanes:\nways: {a: {exit: two}}\n"),
                    Catch::Contains("expected those of cluster b") &&
                        Catch::Contains("exit: expected a host of cluster a, found 'two'"));
  CHECK_THROWS_WITH(
      read_config(low +
                  "lanes:\nways: {a: {exit: one, to: {c: {}}}, b: {exit: two, to: {b: {}}}}\n"),
      Catch::Contains("the name of a cluster") && Catch::Contains("found the same"));
}

TEST_CASE("links: a switch leads from the network of one host to that of the other") {
  const std::string text =
      "clusters:\n"
      "  alpha: {hosts: 2, network: {bandwidth: 1Mbit, receiving: true}, uplink: switch}\n"
      "  beta: {hosts: 2, network: {latency: 1ms, bandwidth: 2Mbit, receiving: true}}\n"
      "links: {all: {latency: 10ms}}\nlanes:\n";
  const paths::Plan plan = read_config(text);
  const std::vector<std::string> there = steps(plan, "alpha-1", "beta-1");
  CHECK(there == std::vector<std::string>{"beta-0 over network.alpha-1 over wan.alpha.beta",
                                          "beta-1 over network.beta-0 over receiving.beta-1"});
  CHECK(steps(plan, "beta-1", "alpha-1") ==
        std::vector<std::string>{"beta-0 over network.beta-1 over receiving.beta-0",
                                 "alpha-1 over wan.beta.alpha over receiving.alpha-1"});
  const std::string low_level = low_level_of(plan);
  CHECK_THAT(low_level, Catch::Contains("uplink: switch") && Catch::Contains("receiving: true"));
  const paths::Plan again = read_config(low_level);
  CHECK(again.digest == plan.digest);
  CHECK(steps(again, "alpha-1", "beta-1") == there);
}

TEST_CASE("links: all stands for every two clusters in both directions with streams") {
  const paths::Plan plan = read_config(
      "clusters:\n  a: {hosts: 1}\n  b: {hosts: 1}\n  c: {hosts: 1}\n"
      "links: {all: {latency: 10ms, bandwidth: 1Gbit, window: 64KiB, streams: 3}}\n"
      "lanes: {striping: 2}\n");
  REQUIRE(plan.ways->links.size() == 6);
  const tuning::Link link = link_of(crossing(plan, 2, 0).link);
  CHECK(link.model == tuning::LinkModel(std::chrono::milliseconds(10), 1e9));
  CHECK(link.stream_rate == Approx(64 * 1024 * 8 / 0.020));
  CHECK(link.streams == 3);
  CHECK(plan.lanes.striping == 2);
  const paths::WayCost cost = cost_of(plan, 0, 1);
  CHECK(cost.bits_per_second == Approx(2 * link.stream_rate));
  const paths::Plan again = read_config(low_level_of(plan));
  CHECK(again.digest == plan.digest);
  CHECK(link_of(crossing(again, 2, 0).link) == link);
}

TEST_CASE("links: a window's round trip is the latency in both directions") {
  const paths::Plan plan = read_config(
      "clusters:\n  a: {hosts: 1}\n  b: {hosts: 1}\nlinks:\n"
      "  - {from: a, to: b, latency: 10ms, window: 50KB}\n"
      "  - {from: b, to: a, latency: 40ms, stream_rate: 1Mbit}\n");
  CHECK(link_of(crossing(plan, 0, 1).link).stream_rate == Approx(8e6));
  CHECK(link_of(crossing(plan, 1, 0).link).stream_rate == Approx(1e6));
}

TEST_CASE("links: a gateway may have a rate that paths and lanes both use") {
  const std::string text =
      "clusters:\n"
      "  alpha: {hosts: 2, gateway: {host: gate, rate: 1Gbit},\n"
      "          network: {latency: 1ms, bandwidth: 2Mbit, receiving: true}}\n"
      "  beta: {hosts: 1}\nlinks: {all: {latency: 10ms, stream_rate: 1Mbit}}\nlanes:\n"
      "elements: {e: {host: beta-0, template: i64, reach: alpha-1}}\n";
  const paths::Plan plan = read_config(text);
  const auto network = [&](const std::string& from, const std::string& to) {
    return next_hop(plan, *plan.host_named(from), *plan.host_named(to));
  };
  const paths::Hop out = network("alpha-1", "beta-0"), in = network("gate", "alpha-1");
  CHECK(link_of(out.outgoing).model == tuning::LinkModel(std::chrono::milliseconds(1), 2e6));
  CHECK(link_of(out.receiving).model == tuning::LinkModel({}, 1e9));
  CHECK(link_of(in.outgoing).model == tuning::LinkModel(std::chrono::milliseconds(1), 1e9));
  CHECK(link_of(in.receiving).model == tuning::LinkModel({}, 2e6));
  std::string stages;
  for (paths::StageId at = plan.paths.front().stage; at != paths::no_stage;
       at = plan.stages[at].below)
    stages += plan.wrappers[plan.stages[at].wrapper].name + ' ';
  CHECK(stages ==
        "network.alpha-1 receiving.alpha-1  receiving.gate network.gate wan.alpha.beta  "
        "wan.beta.alpha  ");
  const std::string low_level = low_level_of(plan);
  CHECK_THAT(low_level, Catch::Contains("rate: 1Gbit") && Catch::Contains("stream_rate: 1Mbit"));
  CHECK(read_config(low_level).digest == plan.digest);
}

TEST_CASE("links: mistakes in networks and uplinks and links are reported at once with positions") {
  const std::string of_clusters = config_error(
      "clusters:\n"
      "  a: {hosts: 1, network: {latency: 1ms, receiving: true}}\n"
      "  b: {hosts: 1, network: {trace: no, receiving: true}, uplink: swich}\n"
      "  c: {hosts: 1, gateway: {rate: 1Gbit, hosts: x}, network: {receiving: perhaps}}\n"
      "  d: {hosts: 1, gateway: g, uplink: switch}\n"
      "  e: {hosts: 1, gateway: {host: e-0, rate: fast}}\n");
  for (const std::string expected :
       {"test.yaml:2:52: receiving: expected also a bandwidth",
        "test.yaml:3:49: receiving: expected a bandwidth with it",
        "test.yaml:3:64: uplink: expected exit or "
        "switch, found 'swich'; did you mean 'switch'?",
        "test.yaml:4:", "host: missing", "did you mean 'host'?",
        "receiving: expected true or false",
        "test.yaml:5:26: gateway: expected none where the uplink is a switch",
        "test.yaml:6:44: rate: expected a rate above 0"})
    CHECK_THAT(of_clusters, Catch::Contains(expected));
  const std::string two = "clusters:\n  a: {hosts: 1}\n  b: {hosts: 1}\n";
  const std::string of_links =
      config_error(two +
                   "links:\n"
                   "  - {from: a, to: b, latency: 1ms, window: 1KiB, stream_rate: 1Mbit}\n"
                   "  - {from: b, to: a, window: 0B, streams: 0}\n");
  for (const std::string expected :
       {"test.yaml:5:44: window: expected either stream_rate or window, found both",
        "test.yaml:6:30: window: expected more than 0 bytes",
        "test.yaml:6:30: window: expected also a latency", "test.yaml:6:43: streams: expected"})
    CHECK_THAT(of_links, Catch::Contains(expected));
  CHECK_THAT(config_error(two + "links: {all: {streams: 2}}\n"),
             Catch::Contains("test.yaml:4:24: streams: expected also stream_rate or window"));
  CHECK_THAT(config_error(two + "links: {al: {latency: 1ms}}\n"),
             Catch::Contains("all: missing") && Catch::Contains("did you mean 'all'?"));
  CHECK_THAT(config_error(two + "links: yes\n"),
             Catch::Contains("test.yaml:4:8: links: expected a list, or a map with all"));
  CHECK_THAT(config_error(two + "lanes: {striping: 0}\n"),
             Catch::Contains("test.yaml:4:19: striping: expected"));
  CHECK_THAT(config_error("hosts:\n  one: {cluster: a}\nlanes:\n"
                          "ways: {a: {exit: one, uplink: switch, rate: 1Mbit}}\n"),
             Catch::Contains("test.yaml:4:31: uplink: expected exit with a rate"));
}

TEST_CASE("links: paths that would lead through a switch are refused") {
  const std::string text =
      "clusters:\n  a: {hosts: 1, uplink: switch}\n  b: {hosts: 1}\n"
      "links: {all: {latency: 1ms}}\n"
      "collectives: {sum: {operation: sum, template: f64}}\n";
  CHECK_THROWS_WITH(read_config(text),
                    Catch::Contains("test.yaml:5:15: uplink: paths of sum lead through exits of "
                                    "clusters, but cluster a has a switch"));
}
