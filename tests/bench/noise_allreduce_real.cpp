// SPDX-License-Identifier: Apache-2.0
// Processes on the steady clock.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "bench/noise_allreduce/noise_allreduce.hpp"
#include "tests/support/shell.hpp"
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

TEST_CASE("noise_allreduce: WAN figures that a process lacks are null, not those of its own host") {
  const std::string folder = test_support::run_shell("mktemp -d").text;
  const std::string in = folder.substr(0, folder.find('\n'));
  const test_support::Said said = test_support::run_shell(
      fmt::format("cd {0} && printf '%s\\n' 'network: {{transport: ipc}}' "
                  "'clusters: {{alpha: {{hosts: 1, threads: 1}}, beta: {{hosts: 1, threads: 1}}}}' "
                  "'links: [{{between: [alpha, beta], latency: 1ms, bandwidth: 100Mbit}}]' "
                  "'collectives: {{sum: {{template: f64}}}}' > a.yaml && "
                  "{1}/paths run a.yaml -- {1}/noise_allreduce --iterations 3 --compute sleep "
                  "--compute-time 1us --json a.json; cat a.json; rm -r {0}",
                  in, PATHS_BUILD_BIN_DIR));
  INFO(said.text);
  const std::size_t begin = said.text.rfind("\n{");
  REQUIRE(begin != std::string::npos);
  const auto json = nlohmann::json::parse(said.text.substr(begin));
  CHECK(json["wan"]["messages_per_iteration"].is_null());
  CHECK(json["wan"]["unknown_hosts"] == std::vector<std::string>{"beta-0"});
  CHECK(!json["clusters"][0]["wan"]["messages_per_iteration"].is_null());
  CHECK_THAT(said.text, Catch::Contains("WAN per iteration           - messages") &&
                            Catch::Contains("no WAN figures of other hosts"));
}
