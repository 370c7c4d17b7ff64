// SPDX-License-Identifier: Apache-2.0
// tests/commands/measure_test.cpp — measurement of links with known properties on the virtual
// clock.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <random>
#include <set>
#include <stdexcept>

#include "base/units.hpp"
#include "commands/host_measurement.hpp"
#include "commands/network_measurement.hpp"
#include "tests/support/sim.hpp"

using base::Nanos;
using commands::NetworkMeasurement;
using namespace std::chrono_literals;

namespace {

struct Measured {
  explicit Measured(const std::string& config, std::size_t streams_most = 16,
                    bool has_costs = false)
      : sim(config), measurement({"", streams_most, has_costs}) {
    measurement.prepare(sim.plan(), {.clock = runtime::ClockKind::virtual_time});
    result = sim.run_well([&](paths::Thread& thread) { measurement.run(thread); });
  }
  const tuning::MeasuredLink& link(const std::string& from, const std::string& to) const {
    return measurement.network().links.at({from, to});
  }
  const tuning::MeasuredLink& network(std::size_t cluster) const {
    return measurement.network().clusters.at(cluster).network.value();
  }

  const test_support::Sim sim;
  NetworkMeasurement measurement;
  test_support::SimResult result;
};

double as_number(Nanos time) { return static_cast<double>(time.count()); }

struct Truth {
  Nanos latency{0};
  double rate = 0;
  std::size_t streams = 1;
};

/// Three sites of 3 or 4 hosts. Two sites then have at least 9 pairs of hosts, so that at least 9
/// streams can be tried.
struct RandomSites {
  explicit RandomSites(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto number = [&](std::int64_t least, std::int64_t most) {
      return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    config = "clusters:\n";
    for (const char* name : {"a", "b", "c"}) {
      const Truth network{number(20, 200) * 1us, static_cast<double>(number(300, 1000)) * 1e6};
      networks.push_back(network);
      config += fmt::format("  {}: {{hosts: {}, network: {{latency: {}, bandwidth: {}}}}}\n", name,
                            number(3, 4), base::format_time(network.latency),
                            base::format_bits_per_second(network.rate));
    }
    config += "links:\n";
    for (const char* from : {"a", "b", "c"})
      for (const char* to : {"a", "b", "c"}) {
        if (from == to) continue;
        const Truth link{number(1000, 80'000) * 1us,
                         static_cast<double>(number(1000, 20'000)) * 1e3,
                         static_cast<std::size_t>(number(1, 8))};
        links[{from, to}] = link;
        config += fmt::format(
            "  - {{from: {}, to: {}, latency: {}, stream_rate: {}, streams: {}}}\n", from, to,
            base::format_time(link.latency), base::format_bits_per_second(link.rate), link.streams);
      }
    config += "lanes: {}\n";
  }

  std::string config;
  std::vector<Truth> networks;
  std::map<std::pair<std::string, std::string>, Truth> links;
};

std::string two_sites(const std::string& link) {
  return "clusters:\n"
         "  a: {hosts: 3, network: {latency: 50us, bandwidth: 1Gbit}}\n"
         "  b: {hosts: 3, network: {latency: 50us, bandwidth: 1Gbit}}\n"
         "links: [{between: [a, b], " +
         link + "}]\nlanes: {}\n";
}

void prepare(const std::string& config) {
  const test_support::Sim sim(config);
  NetworkMeasurement measurement({"", 16});
  measurement.prepare(sim.plan(), {.clock = runtime::ClockKind::virtual_time});
}

}  // namespace

TEST_CASE("random networks of three sites are measured within 5 % and their streams exactly",
          "[without_asan]") {
  const std::uint64_t seed = GENERATE(range(1, 11));
  CAPTURE(seed);
  const RandomSites sites(seed);
  CAPTURE(sites.config);
  const Measured measured(sites.config);
  const auto compare = [](double found, double truth) {
    CHECK(found == Approx(truth).epsilon(0.05));
  };
  for (std::size_t cluster = 0; cluster < 3; ++cluster) {
    compare(as_number(measured.network(cluster).latency),
            as_number(sites.networks[cluster].latency));
    compare(measured.network(cluster).bits_per_second, sites.networks[cluster].rate);
  }
  for (const auto& [pair, truth] : sites.links) {
    CAPTURE(pair.first, pair.second);
    const tuning::MeasuredLink& found = measured.link(pair.first, pair.second);
    compare(as_number(found.latency), as_number(truth.latency));
    compare(found.bits_per_second, truth.rate);
    CHECK(found.streams == truth.streams);
    CHECK_FALSE(found.is_least);
  }
  const double took = std::chrono::duration<double>(measured.result.end).count();
  const double expected =
      std::chrono::duration<double>(measured.measurement.expected().time).count();
  CHECK(expected == Approx(took).epsilon(0.3));
  CHECK(measured.measurement.expected().bytes ==
        Approx(static_cast<double>(measured.measurement.bytes())).epsilon(0.4));
}

TEST_CASE("a link that one stream fills is measured with one stream") {
  const Measured measured(two_sites("latency: 10ms, bandwidth: 20Mbit"));
  CHECK(measured.link("a", "b").streams == 1);
  CHECK_FALSE(measured.link("a", "b").is_least);
  CHECK(measured.link("a", "b").bits_per_second == Approx(20e6).epsilon(0.01));
  CHECK(as_number(measured.link("a", "b").latency) == Approx(10e6).epsilon(0.01));
}

TEST_CASE("if a link is no multiple of the stream rate only the full streams are counted") {
  const Measured measured(two_sites("latency: 10ms, bandwidth: 25Mbit, stream_rate: 10Mbit"));
  CHECK(measured.link("a", "b").streams == 2);
  CHECK(measured.link("a", "b").bits_per_second == Approx(10e6).epsilon(0.01));
}

TEST_CASE("if a link has more streams than pairs of hosts their number is a lower bound") {
  const Measured measured(two_sites("latency: 10ms, stream_rate: 10Mbit, streams: 20"));
  CHECK(measured.link("a", "b").streams == 9);
  CHECK(measured.link("a", "b").is_least);
  const Measured bounded(two_sites("latency: 10ms, stream_rate: 10Mbit, streams: 20"), 4);
  CHECK(bounded.link("a", "b").streams == 4);
  CHECK(bounded.link("a", "b").is_least);
}

TEST_CASE("if a link is faster than all hosts together the measured rate is a lower bound") {
  const auto config = [](const char* rate) {
    return fmt::format(
        "clusters:\n"
        "  a: {{hosts: 4, uplink: switch, network: {{latency: 50us, bandwidth: {0}, "
        "receiving: true}}}}\n"
        "  b: {{hosts: 4, uplink: switch, network: {{latency: 50us, bandwidth: {0}, "
        "receiving: true}}}}\n"
        "links: {{all: {{latency: 10ms, bandwidth: 200Mbit}}}}\nlanes: {{}}\n",
        rate);
  };
  const Measured faster(config("25Mbit"));
  CHECK(faster.link("a", "b").bits_per_second == Approx(25e6).epsilon(0.01));
  CHECK(faster.link("a", "b").streams == 4);
  CHECK(faster.link("a", "b").is_least);
  const Measured slower(config("1Gbit"));
  CHECK(slower.link("a", "b").bits_per_second == Approx(200e6).epsilon(0.01));
  CHECK(slower.link("a", "b").streams == 1);
  CHECK_FALSE(slower.link("a", "b").is_least);
}

TEST_CASE("the expected time and traffic count the streams that the hosts' own networks carry") {
  const auto check = [](const std::string& link, std::size_t streams) {
    CAPTURE(link);
    const Measured measured(
        "clusters:\n"
        "  a: {hosts: 4, uplink: switch, network: {latency: 50us, bandwidth: 100Mbit}}\n"
        "  b: {hosts: 4, uplink: switch, network: {latency: 50us, bandwidth: 100Mbit}}\n"
        "links: {all: {" +
        link + "}}\nlanes: {}\n");
    CHECK(measured.link("a", "b").streams == streams);
    CHECK(measured.measurement.expected().bytes ==
          Approx(static_cast<double>(measured.measurement.bytes())).epsilon(0.3));
    CHECK(as_number(measured.measurement.expected().time) ==
          Approx(as_number(measured.result.end)).epsilon(0.4));
  };
  check("latency: 10ms", 4);
  check("latency: 10ms, bandwidth: 250Mbit", 2);
  check("latency: 10ms, bandwidth: 100Mbit", 1);
}

TEST_CASE("the expected time of costs includes the measurements of folds and of wake-ups") {
  const auto expected = [](std::size_t hosts, bool has_costs, runtime::ClockKind clock) {
    // Costs of frames are not measured over such a latency.
    const test_support::Sim sim(fmt::format(
        "clusters: {{a: {{hosts: {}, network: {{latency: 2ms}}}}}}\nlanes: {{}}\n", hosts));
    NetworkMeasurement measurement({"", 16, has_costs});
    measurement.prepare(sim.plan(), {.clock = clock});
    return measurement.expected().time;
  };
  const auto added = [&](std::size_t hosts, runtime::ClockKind clock) {
    return expected(hosts, true, clock) - expected(hosts, false, clock);
  };
  CHECK(added(2, runtime::ClockKind::steady) > 1s);
  CHECK(added(8, runtime::ClockKind::steady) > added(2, runtime::ClockKind::steady));
  CHECK(added(2, runtime::ClockKind::virtual_time) == 0s);
}

TEST_CASE("each direction of a link is measured separately") {
  const Measured measured(
      "clusters: {a: {hosts: 3}, b: {hosts: 3}}\n"
      "links:\n"
      "  - {from: a, to: b, latency: 40ms, stream_rate: 2Mbit, streams: 3}\n"
      "  - {from: b, to: a, latency: 5ms, stream_rate: 16Mbit, streams: 5}\n"
      "lanes: {}\n");
  CHECK(as_number(measured.link("a", "b").latency) == Approx(40e6).epsilon(0.01));
  CHECK(as_number(measured.link("b", "a").latency) == Approx(5e6).epsilon(0.01));
  CHECK(measured.link("a", "b").bits_per_second == Approx(2e6).epsilon(0.01));
  CHECK(measured.link("b", "a").bits_per_second == Approx(16e6).epsilon(0.01));
  CHECK(measured.link("a", "b").streams == 3);
  CHECK(measured.link("b", "a").streams == 5);
  // The config emulates no network inside the clusters.
  CHECK(measured.network(0).latency == 0ns);
  CHECK(measured.network(0).bits_per_second == 0);
}

TEST_CASE("latency and bandwidth of other networks on the way are not attributed to the link") {
  const std::string gateways =
      "clusters:\n"
      "  a: {hosts: 3, gateway: ga, network: {latency: 2ms, bandwidth: 1Gbit}}\n"
      "  b: {hosts: 3, gateway: gb, network: {latency: 3ms, bandwidth: 1Gbit}}\n"
      "links: [{between: [a, b], latency: 10ms, bandwidth: 20Mbit}]\nlanes: {}\n";
  const Measured measured(gateways);
  CHECK(as_number(measured.network(0).latency) == Approx(2e6).epsilon(0.01));
  CHECK(as_number(measured.network(1).latency) == Approx(3e6).epsilon(0.01));
  CHECK(as_number(measured.link("a", "b").latency) == Approx(10e6).epsilon(0.01));
  CHECK(as_number(measured.link("b", "a").latency) == Approx(10e6).epsilon(0.01));
  const Measured switches(
      "clusters:\n"
      "  a: {hosts: 3, uplink: switch, network: {latency: 2ms, bandwidth: 1Gbit}}\n"
      "  b: {hosts: 3, uplink: switch, network: {latency: 3ms, bandwidth: 1Gbit}}\n"
      "links: [{between: [a, b], latency: 10ms, stream_rate: 20Mbit, streams: 4}]\nlanes: {}\n");
  CHECK(as_number(switches.link("a", "b").latency) == Approx(10e6).epsilon(0.01));
  CHECK(as_number(switches.link("b", "a").latency) == Approx(10e6).epsilon(0.01));
  CHECK(switches.link("a", "b").streams == 4);
}

TEST_CASE("the unmeasured network of a single-host cluster is not attributed to the link") {
  const Measured measured(
      "clusters:\n"
      "  a: {hosts: 1, uplink: switch, network: {latency: 5ms, bandwidth: 1Gbit}}\n"
      "  b: {hosts: 1, gateway: gb, network: {latency: 3ms, bandwidth: 1Gbit}}\n"
      "links: [{between: [a, b], latency: 10ms, bandwidth: 20Mbit}]\nlanes: {}\n");
  CHECK(as_number(measured.link("a", "b").latency) == Approx(10e6).epsilon(0.01));
  CHECK(as_number(measured.link("b", "a").latency) == Approx(10e6).epsilon(0.01));
}

TEST_CASE("links that share no cluster are measured at the same time") {
  const Measured measured(
      "clusters: {a: {hosts: 2}, b: {hosts: 2}, c: {hosts: 2}, d: {hosts: 2}}\n"
      "links: {all: {latency: 5ms, bandwidth: 50Mbit}}\nlanes: {}\n");
  CHECK(measured.measurement.rounds() <= 8);  // 16 measurements need at least 7 rounds
  CHECK(measured.measurement.network().links.size() == 12);
  for (const auto& [pair, link] : measured.measurement.network().links) {
    CHECK(link.bits_per_second == Approx(50e6).epsilon(0.01));
    CHECK(link.streams == 1);
  }
}

TEST_CASE("costs of hosts on the virtual clock are measured as the config states them",
          "[without_asan]") {
  const std::uint64_t seed = GENERATE(range(1, 21));
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto number = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  const auto table = [&] {
    const std::int64_t first = number(1000, 20'000), middle = first + number(0, 10'000);
    return fmt::format("{{1B: {}ns, 4KiB: {}ns, 64KiB: {}ns}}", first, middle,
                       middle + number(0, 60'000));
  };
  const bool is_limited = number(0, 1) == 1;
  const Nanos latency = number(10, 200) * 1us;
  const std::string config = fmt::format(
      "clusters:\n"
      "  a: {{hosts: 2, network: {{latency: {}, bandwidth: {}}}}}\n"
      "lanes: {{}}\n"
      "costs: {{send: {}, receive: {}, fold_ns_per_byte: 0.3, copy_ns_per_byte: 0.1}}\n",
      base::format_time(latency),
      is_limited ? fmt::format("{}Mbit", number(500, 4000)) : "unlimited", table(), table());
  CAPTURE(config);
  const Measured measured(config, 16, true);
  const tuning::HostCosts& truth = *measured.sim.plan().costs;
  const tuning::HostCosts& found = measured.measurement.network().costs.value();
  CHECK(found.fold_nanos_per_byte == truth.fold_nanos_per_byte);
  CHECK(found.copy_nanos_per_byte == truth.copy_nanos_per_byte);
  const auto& one = *truth.between("a", "a");
  const auto& other = *found.between("a", "a");
  for (const std::uint64_t bytes : {1, 100, 1024, 4096, 20'000, 65'536}) {
    CAPTURE(bytes);
    CHECK(as_number(other.send.at(bytes) + other.receive.at(bytes)) ==
          Approx(as_number(one.send.at(bytes) + one.receive.at(bytes))).epsilon(0.03));
  }
  CHECK(as_number(other.send.at(1)) == Approx(as_number(one.send.at(1))).epsilon(0.03));
  CHECK(as_number(other.receive.at(1)) == Approx(as_number(one.receive.at(1))).epsilon(0.03));
  CHECK(as_number(measured.network(0).latency) == Approx(as_number(latency)).epsilon(0.03));
}

TEST_CASE("costs of frames need the smallest size, half of all sizes, and one well above 4 KiB") {
  using Sizes = std::vector<std::uint64_t>;
  const Sizes wanted{1, 64, 1024, 2048, 4096, 4097, 16384, 32768, 65536};
  CHECK(commands::suffice_for_costs(wanted, wanted));
  CHECK(commands::suffice_for_costs({1, 64, 1024, 2048, 4096, 4097, 16384}, wanted));
  CHECK(commands::suffice_for_costs({1, 64, 1024, 65536}, wanted));
  CHECK(commands::suffice_for_costs({1, 4096, 4097}, {1, 64, 1024, 2048, 4096, 4097}));
  CHECK_FALSE(commands::suffice_for_costs({1, 64, 1024, 2048, 4096, 4097}, wanted));
  CHECK_FALSE(commands::suffice_for_costs({1, 64, 1024, 2048, 4097}, wanted));
  CHECK_FALSE(commands::suffice_for_costs({64, 1024, 4097, 16384, 65536}, wanted));
  CHECK_FALSE(commands::suffice_for_costs({1, 64, 65536}, wanted));
  CHECK_FALSE(commands::suffice_for_costs({}, wanted));
}

TEST_CASE("hosts that spend no time have no costs, although a link takes time for each byte") {
  const Measured measured(
      "clusters: {a: {hosts: 2, network: {latency: 60us, bandwidth: 80Mbit}}}\nlanes: {}\n", 16,
      true);
  const auto costs = measured.measurement.network().costs;
  REQUIRE(costs.has_value());
  for (const std::uint64_t bytes : {1, 4096, 65'536}) {
    CHECK(costs->between("a", "a")->send.at(bytes) <= 20ns);
    CHECK(costs->between("a", "a")->receive.at(bytes) <= 20ns);
  }
  CHECK(as_number(measured.network(0).latency) == Approx(60e3).epsilon(0.01));
}

TEST_CASE("costs of hosts are measured only over networks and links of less than 1 ms") {
  const auto config = [](const char* latency, const char* link) {
    return fmt::format(
        "clusters: {{a: {{hosts: 2, network: {{latency: {}}}}}, b: {{hosts: 1}}}}\n"
        "links: {{all: {{latency: {}, bandwidth: 100Mbit}}}}\nlanes: {{}}\n"
        "costs: {{send: 10us, receive: 20us, links: [{{from: a, to: b, send: 30us, "
        "receive: 40us}}, {{from: b, to: a, send: 30us, receive: 40us}}]}}\n",
        latency, link);
  };
  const auto costs = [](const Measured& measured) { return measured.measurement.network().costs; };
  CHECK_FALSE(costs(Measured(config("2ms", "10ms"), 16, true)).has_value());
  CHECK_FALSE(costs(Measured(config("100us", "10ms"))).has_value());

  const Measured near(config("100us", "10ms"), 16, true);
  REQUIRE(costs(near).has_value());
  CHECK(as_number(costs(near)->between("a", "a")->receive.at(1)) == Approx(20e3).epsilon(0.01));
  // The link is too slow to measure the costs of frames. The costs that were measured inside the
  // cluster therefore also apply to the link.
  CHECK(as_number(costs(near)->between("a", "b")->receive.at(1)) == Approx(20e3).epsilon(0.01));
  CHECK(as_number(near.network(0).latency) == Approx(100e3).epsilon(0.01));

  const Measured all(config("100us", "500us"), 16, true);
  REQUIRE(costs(all).has_value());
  CHECK(as_number(costs(all)->between("a", "b")->receive.at(1)) == Approx(40e3).epsilon(0.02));
  CHECK(as_number(costs(all)->between("a", "a")->receive.at(1)) == Approx(20e3).epsilon(0.02));
  CHECK(as_number(all.link("a", "b").latency) == Approx(500e3).epsilon(0.01));
}

TEST_CASE("a config that cannot be measured is refused before any message is sent") {
  CHECK_THROWS_WITH(prepare("clusters: {a: {hosts: 1}}\nlanes: {}\n"),
                    Catch::Contains("expected two hosts with threads"));
  CHECK_THROWS_WITH(prepare("clusters: {a: {hosts: 1}, b: {hosts: 1}}\n"
                            "links: {all: {}}\n"),
                    Catch::Contains("expected the key lanes"));
  CHECK_THROWS_WITH(prepare("clusters: {a: {hosts: 1}, b: {hosts: 1}, c: {hosts: 1}}\n"
                            "links: [{between: [a, b]}, {from: a, to: c}]\nlanes: {}\n"),
                    Catch::Contains("there is none from b to c, c to a, c to b"));
  CHECK_THROWS_WITH(prepare("clusters: {a: {hosts: 2}}\nlanes: {striping: 2}\n"),
                    Catch::Contains("expected lanes without striping"));
  CHECK_THROWS_WITH(prepare("clusters: {a: {hosts: 2}, b: {hosts: 2, threads: 0}}\n"
                            "links: {all: {}}\nlanes: {}\n"),
                    Catch::Contains("there are none in b"));
}

TEST_CASE("the largest number of full streams is found for any value") {
  for (std::size_t most = 1; most <= 40; ++most)
    for (std::size_t streams = 1; streams <= 45; ++streams) {
      std::size_t looks = 0;
      const std::size_t found = commands::most_streams(most, [&](std::size_t tried) {
        ++looks;
        CHECK(tried <= most);
        return tried <= streams;
      });
      CHECK(found == std::min(most, streams));
      CHECK(looks <= 11);
    }
}

TEST_CASE("streams use different pairs of hosts and each host in as few as possible") {
  for (std::uint32_t sources = 1; sources <= 5; ++sources)
    for (std::uint32_t targets = 1; targets <= 5; ++targets)
      for (std::size_t streams = 1; streams <= sources * targets; ++streams) {
        commands::LinkTask task;
        for (std::uint32_t i = 0; i < sources; ++i) task.sources.push_back(i);
        for (std::uint32_t i = 0; i < targets; ++i) task.targets.push_back(10 + i);
        std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
        std::map<std::uint32_t, std::size_t> of_source;
        for (const auto& [from, to] : commands::pairs_of(task, streams)) {
          pairs.emplace(from, to);
          ++of_source[from];
        }
        CHECK(pairs.size() == streams);
        for (const auto& [source, count] : of_source)
          CHECK(count <= (streams + sources - 1) / sources);
      }
}
