// SPDX-License-Identifier: Apache-2.0
// bench/lane_traffic/main.cpp — lane_traffic: random messages between all threads of a config.
#include "wrappers/main.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "bench/lane_traffic/lane_traffic.hpp"
#include "paths/host/host.hpp"

int main(int argc, char** argv) {
  bench::LaneTrafficOptions options;
  std::unique_ptr<bench::LaneTraffic> traffic;
  paths::Program program;
  program.name = "lane_traffic";
  program.help = "Threads send each other messages of all sizes over lanes, and check what comes.";
  program.options = [&](CLI::App& app) {
    app.add_option("--messages", options.messages, "How many, of all threads")
        ->capture_default_str();
    app.add_option("--bytes", options.bytes_most, "Of the largest")->capture_default_str();
    app.add_option("--draw", options.seed, "Seed of pairs and sizes")->capture_default_str();
  };
  program.prepare = [&](const paths::Plan& plan, const paths::RunOptions&) {
    traffic = std::make_unique<bench::LaneTraffic>(options);
    traffic->prepare(plan);
  };
  program.thread = [&](paths::Thread& thread) { traffic->run(thread); };
  program.finish = [&](const paths::RunSummary& run) {
    const auto& figures = traffic->figures();
    fmt::print(
        R"({{"host": "{}", "received": {}, "bytes": {}, "ms": {:.3f}, "inbox_held_most": {}, )"
        R"("lateness_lost_ms": {:.3f}}})"
        "\n",
        run.hosts.size() == 1 ? run.hosts.front()->name() : "all", figures.received, figures.bytes,
        static_cast<double>(figures.took.count()) / 1e6, figures.inbox_held_most,
        static_cast<double>(figures.lateness_lost.count()) / 1e6);
  };
  return paths::main(argc, argv, program);
}
