// SPDX-License-Identifier: Apache-2.0
// tests/base/link_model/measured_network_test.cpp — the file of measured links: writing, reading
// and comparing.
#include "base/link_model/measured_network.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "base/errors.hpp"
#include "tests/support/thrown.hpp"

using tuning::MeasuredLink;
using tuning::MeasuredNetwork;
using namespace std::chrono_literals;

namespace {

MeasuredLink link(base::Nanos latency, double rate, std::size_t streams = 1) {
  MeasuredLink one;
  one.latency = latency;
  one.bits_per_second = rate;
  one.streams = streams;
  return one;
}

MeasuredNetwork two_sites() {
  MeasuredNetwork network;
  network.clusters = {{"alpha", link(60us, 940e6), {}}, {"beta", {}, {}}};
  network.links[{"alpha", "beta"}] = link(50ms, 10e6, 8);
  network.links[{"beta", "alpha"}] = link(51234567ns, 9'876'543);
  network.links[{"beta", "alpha"}].latency_spread = 0.0123;
  return network;
}

MeasuredNetwork read(const std::string& text) {
  return tuning::parse_measured_network(text, "network.yaml");
}

std::string mistakes_of(const std::string& text) {
  return test_support::thrown<base::ConfigError>([&] { read(text); });
}

}  // namespace

TEST_CASE("a measured network is printed with four digits") {
  CHECK(
      tuning::print(two_sites(), "two.yaml") ==
      "# Measured by `paths measure` between the hosts of two.yaml.\n# `links: {from: FILE}` in a "
      "config reads it. A bandwidth is that of one stream; `streams`\n# is how many reach it at "
      "once. A spread is a fraction of the figure before it.\nclusters:\n  alpha: {latency: 60us, "
      "latency_spread: 0.0000, bandwidth: 940Mbit, bandwidth_spread: 0.0000}\n  beta: {}\nlinks:\n "
      " - {from: alpha, to: beta, latency: 50ms, latency_spread: 0.0000, bandwidth: 10Mbit, "
      "bandwidth_spread: 0.0000, streams: 8}\n  - {from: beta, to: alpha, latency: 51230us, "
      "latency_spread: 0.0123, bandwidth: 9877kbit, bandwidth_spread: 0.0000, streams: 1}\n");
}

TEST_CASE("a printed network reads back and prints to the same bytes") {
  const std::uint64_t seed = GENERATE(range(1, 101));
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto number = [&](double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random);
  };
  MeasuredNetwork network;
  const int clusters = 1 + static_cast<int>(seed % 5);
  for (int i = 0; i < clusters; ++i) {
    network.clusters.push_back({"site-" + std::to_string(i), {}, {}});
    if (random() % 2 == 0)
      network.clusters.back().network =
          link(base::Nanos(static_cast<std::int64_t>(number(1, 1e6))), number(1, 1e11));
  }
  for (int from = 0; from < clusters; ++from)
    for (int to = 0; to < clusters; ++to) {
      if (from == to) continue;
      MeasuredLink& one = network.links[{network.clusters[from].name, network.clusters[to].name}];
      one = link(base::Nanos(static_cast<std::int64_t>(number(1, 1e9))), number(1, 1e10),
                 1 + random() % 20);
      one.is_least = random() % 4 == 0;
      one.latency_spread = number(0, 0.25);
      if (random() % 8 == 0) one.bits_per_second = 0;
    }
  const std::string text = tuning::print(network, "some.yaml");
  const MeasuredNetwork again = read(text);
  CHECK(tuning::print(again, "some.yaml") == text);
  CHECK(again.links.size() == network.links.size());
  for (const auto& [pair, one] : network.links) {
    const MeasuredLink& other = again.links.at(pair);
    CHECK(other.streams == one.streams);
    CHECK(other.is_least == one.is_least);
    CHECK(static_cast<double>(other.latency.count()) ==
          Approx(static_cast<double>(one.latency.count())).epsilon(0.0006));
    CHECK(other.bits_per_second == Approx(one.bits_per_second).epsilon(0.0006).margin(1));
  }
}

TEST_CASE("a measured network keeps the costs of hosts in its file") {
  const std::string text = tuning::print(two_sites(), "two.yaml");
  const std::string costs =
      "costs:\n  send: {1B: 4us, 64KiB: 30us}\n  send_spread: 0.02\n  receive: {1B: 5us}\n";
  const MeasuredNetwork network = read(text + costs);
  REQUIRE(network.costs);
  CHECK(network.costs->frames->send.at(1) == std::chrono::microseconds(4));
  CHECK(tuning::print(network, "two.yaml") == text + costs);
  CHECK_THROWS_WITH(read(text + "costs: {links: [{inside: gamma, send: 1us}]}\n"),
                    Catch::Contains("expected a cluster of the run, found 'gamma'"));
}

TEST_CASE("a wrong network file reports all mistakes with their places") {
  CHECK(mistakes_of("links: []\n") ==
        "network.yaml:1:1: clusters: missing in the file of a network, expected a map of clusters");
  CHECK(mistakes_of("clusters: {a: {}, b: {}, c: {}}\n"
                    "links:\n"
                    "  - {from: a, to: b, latency: 1ms, bandwidth: 1Mbit}\n"
                    "  - {from: b, to: a, latency: 1ms, bandwidth: 1Mbit}\n"
                    "  - {from: a, to: c, latency: 1ms, bandwidth: 1Mbit}\n"
                    "  - {from: b, to: c, latency: 1ms, bandwidth: 1Mbit}\n"
                    "  - {from: c, to: b, latency: 1ms, bandwidth: 1Mbit}\n") ==
        "network.yaml:3:3: links: none from c to a; expected one for every two clusters, each way");
  const std::string wrong = mistakes_of(
      "clusters: {alpha: {latency: 1ms}, beta: {}}\n"
      "links:\n"
      "  - {from: alpha, to: betta, latency: 1ms, bandwidth: 0Mbit}\n"
      "  - {from: beta, to: beta, latency: fast, bandwidth: 1Mbit, streams: 0}\n"
      "  - {from: beta, to: alpha, bandwidth: 1Mbit, streams: 2, streams_at_least: 2}\n"
      "  - {from: beta, to: alpha, latency: 1ms, bandwidth: 1Mbit, spread: 1}\n");
  for (const char* part :
       {"network.yaml:1:19: bandwidth: missing in cluster alpha, expected a rate",
        "network.yaml:3:23: link: expected a cluster of this file, found 'betta'; did you mean "
        "'beta'?",
        "network.yaml:3:55: bandwidth: expected a rate above 0",
        "network.yaml:4:22: link: expected two clusters, found beta twice",
        "network.yaml:4:37: latency: expected a time",
        "streams: expected an integer from 1 to 1000000",
        "network.yaml:5:5: latency: missing in link",
        "streams: expected either streams or streams_at_least, found both",
        "network.yaml:6:5: link: a second one from beta to alpha, besides that at "
        "network.yaml:5:5",
        "network.yaml:6:61: unknown key 'spread'"}) {
    CAPTURE(wrong);
    CHECK_THAT(wrong, Catch::Contains(part));
  }
}

TEST_CASE("a link with one stream has a bandwidth and one with several has streams") {
  const auto key = [](const MeasuredLink& one, const char* name) {
    const base::Settings text = one.text();
    const base::Settings* const found = text.find(name);
    return found == nullptr ? std::string() : found->text();
  };
  CHECK(key(link(5ms, 10e6), "bandwidth") == "10Mbit");
  CHECK(key(link(5ms, 10e6), "streams").empty());
  CHECK(key(link(5ms, 10e6, 3), "stream_rate") == "10Mbit");
  CHECK(key(link(5ms, 10e6, 3), "streams") == "3");
  CHECK(key(link(5ms, 10e6, 3), "bandwidth").empty());
  CHECK(key(link(5ms, 0, 1), "bandwidth") == "unlimited");
}

TEST_CASE("a change is a difference larger than the measured spreads") {
  const MeasuredNetwork before = two_sites();
  CHECK(tuning::changes(before, before).empty());
  MeasuredNetwork now = two_sites();
  // The latency grows by 0.8 %. This does not count as a change, because it is below 1 %.
  now.links[{"alpha", "beta"}].latency = 50'400us;
  // The latency grows by 1.5 %. Both measurements of this link have a spread of 1.2 %. Only a
  // difference of more than 1 % + 2 * 1.2 % therefore counts as a change.
  now.links[{"beta", "alpha"}].latency = 52ms;
  CHECK(tuning::changes(before, now).empty());
  now.links[{"alpha", "beta"}].streams = 4;
  now.links[{"beta", "alpha"}].latency = 54ms;
  now.clusters[0].network.reset();
  now.clusters[1].network = link(10us, 1e9);
  CHECK(tuning::changes(before, now) ==
        std::vector<std::string>{
            "beta: new: 10us, 1Gbit", "alpha: gone; was 60us, 940Mbit",
            "alpha to beta: 50400us, 10Mbit a stream, 4 streams; was 50ms, 10Mbit a stream, 8 "
            "streams",
            "beta to alpha: 54ms, 9877kbit; was 51230us, 9877kbit"});
}

TEST_CASE("a change of the costs of hosts is reported if it is larger than the measured spreads") {
  MeasuredNetwork before = two_sites();
  tuning::HostCosts& costs = before.costs.emplace();
  costs.fold_nanos_per_byte = 0.3;
  costs.fold_spread = 0.1;
  costs.copy_nanos_per_byte = 0.1;
  costs.cores = 2;
  costs.wake_up = 100us;
  CHECK(tuning::changes(before, before).empty());
  MeasuredNetwork now = before;
  now.costs->fold_nanos_per_byte = 0.35;  // within 5 % plus twice the spread of 10 %
  now.costs->copy_nanos_per_byte = 0.104;
  now.costs->wake_up = 120us;
  CHECK(tuning::changes(before, now).empty());
  now.costs->fold_nanos_per_byte = 0.5;
  now.costs->copy_nanos_per_byte = 0.12;
  now.costs->cores = 0;
  now.costs->wake_up = 200us;
  CHECK(tuning::changes(before, now) ==
        std::vector<std::string>{"costs of folds: 0.5 ns per byte; was 0.3 ns per byte",
                                 "costs of copies: 0.12 ns per byte; was 0.1 ns per byte",
                                 "cores of a machine: one for each host; was 2",
                                 "time to wake up: 200us; was 100us"});
}
