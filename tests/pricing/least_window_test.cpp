// SPDX-License-Identifier: Apache-2.0
// tests/pricing/least_window_test.cpp — the least window, against the evaluator.
#include "pricing/least_window.hpp"

#include <catch2/catch.hpp>

#include "collectives/algorithms/all.hpp"
#include "pricing/evaluator.hpp"

using namespace collectives;
using namespace pricing;
using namespace std::chrono_literals;

TEST_CASE("least window: every schedule ends in it without any credit, and sticks below it") {
  std::size_t checked = 0, larger = 0;
  for (const std::vector<std::size_t>& clusters :
       {std::vector<std::size_t>{5}, {8}, {4, 3}, {1, 1, 1, 1}, {2, 2, 4}}) {
    const Network network = uniform_network(
        std::make_shared<const Topology>(Topology::clustered(clusters)), {100ns, 8e9}, {1ms, 8e9});
    for (const Algorithm& algorithm : all_algorithms())
      for (const Collective collective : algorithm.collectives) {
        const Task task = make_task(collective, network.topology, 23);
        const Parameters parameters = algorithm.read("");
        if (!algorithm.why_not(task, parameters).empty()) continue;
        for (const std::size_t receiving : {0, 1, 2}) {
          INFO(algorithm.name << " " << name_of(collective) << " among " << task.size() << ", "
                              << receiving << " ports");
          const Ports ports{.receiving = receiving};
          const auto least =
              least_window(programs_of(algorithm, task, parameters), *network.topology, ports);
          const auto ends = [&](std::size_t window) {
            try {
              evaluate(programs_of(algorithm, task, parameters), 1, network,
                       {.window = window, .credit = 0, .ports = ports});
              return true;
            } catch (const std::invalid_argument&) {
              return false;
            }
          };
          ++checked;
          if (!least) {
            CHECK_FALSE(ends(100'000));
            continue;
          }
          CHECK(ends(*least));
          if (*least == 1) continue;
          ++larger;
          CHECK_FALSE(ends(*least - 1));
          CHECK(least_window(programs_of(algorithm, task, parameters), *network.topology, ports,
                             *least + 3) == *least + 3);
        }
      }
  }
  CHECK(checked > 300);
  CHECK(larger > 30);
}
