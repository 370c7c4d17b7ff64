// SPDX-License-Identifier: Apache-2.0
// tests/paths/expand_memory_test.cpp — memory that reading a large config takes.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "base/settings.hpp"
#include "paths/config/config.hpp"
#include "tests/support/allocations.hpp"
#include "wrappers/all.hpp"

namespace {

struct Cost {
  double allocations = 0, bytes = 0;  // allocations and bytes per path
};

/// Reads a config and returns the cost. Each cluster has ten hosts and a link to the first cluster.
/// Each collective has a tree over all clusters.
Cost cost_of(std::uint32_t clusters, std::uint32_t collectives) {
  std::string text = "clusters:\n";
  for (std::uint32_t i = 0; i < clusters; ++i)
    text += fmt::format("  a{}: {{hosts: 10, threads: 4, network: {{latency: 50us}}}}\n", i);
  text += "links:\n";
  for (std::uint32_t i = 1; i < clusters; ++i)
    text += fmt::format("  - {{between: [a0, a{}], latency: 10ms}}\n", i);
  text += "collectives:\n";
  for (std::uint32_t i = 0; i < collectives; ++i)
    text += fmt::format("  c{}: {{operation: sum, template: f64}}\n", i);
  const auto settings = base::parse_settings(text, "a-config-with-a-long-name-in-a-folder.yaml");
  const std::uint64_t allocations = test_support::allocations_for(0);
  const std::uint64_t bytes = test_support::allocated_bytes_for(0);
  test_support::allocate_for(0);
  const paths::Plan plan = paths::read_plan(settings, wrappers::all_kinds());
  test_support::allocate_for(-1);
  const auto paths = static_cast<double>(plan.paths.size());
  CHECK(plan.paths.size() == std::size_t{10} * clusters * collectives);
  return {static_cast<double>(test_support::allocations_for(0) - allocations) / paths,
          static_cast<double>(test_support::allocated_bytes_for(0) - bytes) / paths};
}

}  // namespace

TEST_CASE("expand: a path of a large config takes few allocations and little memory") {
  const Cost cost = cost_of(10, 40);
  INFO(cost.allocations << " allocations, " << cost.bytes << " bytes a path");
  CHECK(cost.allocations < 25);
  CHECK(cost.bytes < 5000);
}

TEST_CASE("expand: a path takes no more memory with twice as many hosts or collectives") {
  const Cost one = cost_of(10, 20), more_hosts = cost_of(20, 20),
             more_collectives = cost_of(10, 40);
  INFO(one.bytes << ", " << more_hosts.bytes << ", " << more_collectives.bytes << " bytes a path");
  CHECK(more_hosts.bytes <= 1.1 * one.bytes);
  CHECK(more_collectives.bytes <= 1.1 * one.bytes);
  CHECK(more_hosts.allocations <= 1.1 * one.allocations);
  CHECK(more_collectives.allocations <= 1.1 * one.allocations);
}
