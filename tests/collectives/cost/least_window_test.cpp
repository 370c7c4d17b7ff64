// SPDX-License-Identifier: Apache-2.0
// tests/collectives/cost/least_window_test.cpp — least window of schedules, compared with the
// evaluator.
#include "collectives/cost/least_window.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <functional>
#include <optional>

#include "collectives/algorithms/all.hpp"
#include "collectives/cost/evaluator.hpp"
#include "collectives/schedule/verifier.hpp"

using namespace collectives;
using namespace pricing;
using namespace std::chrono_literals;

namespace {

using MakePrograms = std::function<std::vector<Program>()>;

Network network_of(const std::vector<std::size_t>& clusters) {
  return uniform_network(std::make_shared<const Topology>(Topology::clustered(clusters)),
                         {100ns, 8e9}, {1ms, 8e9});
}

bool ends(const MakePrograms& make, const Network& network, std::size_t window,
          const Ports& ports) {
  try {
    evaluate(make(), 1, network, {.window = window, .credit = 0, .ports = ports});
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

/// Tries every window upwards from 1 and returns the first window that suffices. Returns nullopt if
/// even a huge window does not suffice.
std::optional<std::size_t> first_that_ends(const MakePrograms& make, const Network& network,
                                           const Ports& ports) {
  if (!ends(make, network, 100'000, ports)) return std::nullopt;
  for (std::size_t window = 1;; ++window)
    if (ends(make, network, window, ports)) return window;
}

const std::vector<Ports> all_ports{
    {},
    {.receiving = 1},
    {.receiving = 2},
    {.receiving = 1, .are_apart = true},
    {.receiving = 1, .are_apart = true, .receiving_across = 2},
    {.receiving = 1, .are_grants_carried = true},
    {.sending = 1, .are_in_order = true},
    {.sending = 1, .receiving = 2, .are_in_order = true},
    {.sending = 1, .receiving = 1, .are_apart = true, .are_in_order = true}};

std::string text_of(const Ports& ports) {
  return fmt::format("{} sending, {} receiving, {} across, apart {}, in order {}", ports.sending,
                     ports.receiving, ports.receiving_across, ports.are_apart, ports.are_in_order);
}

}  // namespace

TEST_CASE(
    "least window: every schedule ends with it without credit and blocks with a smaller window") {
  std::size_t checked = 0, larger = 0;
  for (const std::vector<std::size_t>& clusters :
       {std::vector<std::size_t>{5}, {8}, {4, 3}, {1, 1, 1, 1}, {2, 2, 4}}) {
    const Network network = network_of(clusters);
    for (const Algorithm& algorithm : all_algorithms())
      for (const Collective collective : algorithm.collectives) {
        const CollectiveSpec task = make_spec(collective, network.topology, 23);
        const Parameters parameters = algorithm.read("");
        if (!algorithm.why_not(task, parameters).empty()) continue;
        const MakePrograms make = [&] { return programs_of(algorithm, task, parameters); };
        for (const Ports& ports : all_ports) {
          INFO(algorithm.name << " " << name_of(collective) << " among " << task.size() << ", "
                              << text_of(ports));
          const auto least = least_window(make(), *network.topology, ports);
          CHECK(least == first_that_ends(make, network, ports));
          ++checked;
          if (!least || *least == 1) continue;
          ++larger;
          CHECK(least_window(make(), *network.topology, ports, *least + 3) == *least + 3);
        }
        CHECK(least_window(make(), *network.topology, {}) ==
              verify(algorithm, task, parameters).least_window);
      }
  }
  CHECK(checked > 1000);
  CHECK(larger > 100);
}
