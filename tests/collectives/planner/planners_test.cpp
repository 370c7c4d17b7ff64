// SPDX-License-Identifier: Apache-2.0
// tests/collectives/planner/planners_test.cpp — plans that each planner makes with its parameters.
#include "collectives/planner/planners.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "collectives/schedule/verifier.hpp"
#include "tests/collectives/planner/networks.hpp"

using namespace planning;
using namespace test_support;
using namespace std::chrono_literals;
using collectives::Collective;
using collectives::make_spec;

namespace {

Contender planned(const std::string& name, const std::string& parameters,
                  const pricing::Network& network, std::uint64_t bytes) {
  const Planner& planner = *planner_named(name);
  return plan(planner, planner.read(parameters),
              make_spec(Collective::allgather, network.topology, bytes), 1, network);
}

}  // namespace

TEST_CASE("planners: each planner makes correct plans with every word of its parameters") {
  const pricing::Network network = network_of(five_hosts(), 2);
  const collectives::CollectiveSpec task = make_spec(Collective::allgather, network.topology, 1000);
  for (const Planner& planner : all_planners()) {
    CHECK(plans(planner.name));
    for (const collectives::Parameter& parameter : planner.parameters) {
      const std::vector<std::string> values =
          parameter.words.empty() ? std::vector<std::string>{parameter.fallback, "3"}
                                  : parameter.words;
      for (const std::string& value : values) {
        INFO(planner.name << ' ' << parameter.name << '=' << value);
        const Contender one = planned(planner.name, parameter.name + "=" + value, network, 1000);
        CHECK(verify(one.algorithm, task, one.parameters).mistake == "");
        CHECK(one.time > 0ns);
      }
    }
  }
  CHECK_FALSE(plans("ring"));
}

TEST_CASE("planners: parameters set pools and ports and segments and streams") {
  pricing::Network network = network_of(three_sites(), 8);
  const auto seconds = [&](const std::string& name, const std::string& parameters) {
    const Nanos time = planned(name, parameters, network, 256 * 1024).time;
    return std::round(std::chrono::duration<double>(time).count() * 1000) / 1000;
  };
  CHECK(seconds("min3", "") == 3.828);
  CHECK(seconds("min3", "pools=bandwidth") == 3.990);
  CHECK(seconds("min3", "pools=bandwidth,ports=half") == 4.555);
  CHECK(seconds("mateescu", "") == 22.078);
  CHECK(seconds("clustered_sa", "") == 25.869);
  CHECK(seconds("min3_plus", "") == 1.658);
  CHECK(seconds("min3_plus", "segments=2,at_once=4") == 1.959);
  network.frame = 4096;  // each frame occupies a stream of its own
  CHECK(seconds("min3", "streams=8") == 2.165);
}

TEST_CASE("planners: two hosts that make the same request have the same plan") {
  const pricing::Network network = network_of(three_sites(), 4);
  for (const Planner& planner : all_planners()) {
    const auto digest = [&] {
      return planned(planner.name, "", network, 64 * 1024).plan->digest();
    };
    CHECK(digest() == digest());
  }
}

TEST_CASE("planners: wrong parameters and tasks are reported") {
  const pricing::Network network = network_of(five_hosts(), 2);
  const Planner& planner = *planner_named("min3");
  CHECK_THROWS_WITH(planner.read("pool=declared,ports=both"),
                    "min3: expected pools, ports, segments, streams or overhead_ns, found 'pool'; "
                    "did you mean 'pools'?; ports: expected full or half, found 'both'");
  CHECK_THROWS_WITH(plan(planner, planner.read(""),
                         make_spec(Collective::broadcast, network.topology, 8), 1, network),
                    "min3 plans allgathers, and that is broadcast");
  const auto two =
      std::make_shared<const collectives::Topology>(collectives::Topology::clustered({2}));
  CHECK_THROWS_WITH(
      plan(planner, planner.read(""), make_spec(Collective::allgather, two, 8), 1, network),
      "expected blocks of 5 participants, found 2");
}
