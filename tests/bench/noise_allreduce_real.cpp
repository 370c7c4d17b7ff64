// SPDX-License-Identifier: Apache-2.0
// One process that is all hosts, on the steady clock.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "bench/noise_allreduce/noise_allreduce.hpp"
#include "tests/support/sim.hpp"

TEST_CASE("noise_allreduce: one process that is all hosts claims no processor time for each") {
  const test_support::Sim sim(R"(
clusters: {alpha: {hosts: 3, threads: 1}}
collectives: {sum: {template: f64}}
elements: {report: {host: alpha-0, template: bytes, reach: all}}
)");
  bench::NoiseOptions options;
  options.iterations = 3;
  options.compute = "sleep";
  options.compute_time = "1us";
  bench::NoiseAllreduce noise(options);
  const paths::RunOptions of_all_hosts;
  noise.prepare(sim.plan(), of_all_hosts);
  nlohmann::ordered_json json;
  const auto failures = paths::run_plan(
      sim.shared_plan(), sim.kinds(), of_all_hosts,
      [&](paths::Thread& thread) { noise.run(thread); },
      [&](const paths::RunSummary& summary) { json = bench::to_json(noise.figures(summary)); });
  CHECK(failures == std::vector<std::string>());
  CHECK(json["threads"] == 3);
  CHECK(json["cpu_ms"].empty());
}
