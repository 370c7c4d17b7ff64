// SPDX-License-Identifier: Apache-2.0
// tests/install/outside/main.cpp — program of a user who installed PATHS: a tree of two clusters on
// the virtual clock.
#include "wrappers/main.hpp"

#include <fmt/format.h>

#include "base/version.hpp"
#include "wrappers/all.hpp"

int main() {
  const auto config = base::parse_settings(
      "clusters: {a: {hosts: 1, threads: 2}, b: {hosts: 1, threads: 2}}\n"
      "links: [{between: [a, b], latency: 5ms}]\n"
      "collectives: {sum: {operation: sum, template: f64, algorithm: magpie}}\n",
      "outside");
  const auto& kinds = wrappers::all_kinds();
  double value = 0;
  const auto failures = paths::run_plan(
      std::make_shared<paths::Plan>(paths::read_plan(config, kinds)), kinds,
      {.clock = runtime::ClockKind::virtual_time},
      [&](paths::Thread& thread) { value = thread.path("sum").move_value(1.0).value<double>(); });
  fmt::print("PATHS {}: {}\n", base::version, value);
  return failures.empty() && value == 4.0 ? 0 : 1;
}
