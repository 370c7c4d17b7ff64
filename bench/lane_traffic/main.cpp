// SPDX-License-Identifier: Apache-2.0
// bench/lane_traffic/main.cpp — program `lane_traffic`: random or repeated messages
#include "wrappers/main.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/units.hpp"
#include "bench/lane_traffic/lane_rounds.hpp"
#include "bench/lane_traffic/lane_traffic.hpp"
#include "paths/host/host.hpp"

namespace {

void print(const bench::LaneTraffic::Figures& figures, const paths::RunSummary& run) {
  fmt::print(R"({{"host": "{}", "received": {}, "bytes": {}, "ms": {:.3f}, "inbox_held_most": {}, )"
             R"("lateness_lost_ms": {:.3f}}})"
             "\n",
             run.hosts.size() == 1 ? run.hosts.front()->name() : "all", figures.received,
             figures.bytes, static_cast<double>(figures.took.count()) / 1e6,
             figures.inbox_held_most, static_cast<double>(figures.lateness_lost.count()) / 1e6);
}

void print(const bench::LaneRoundsOptions& options, const std::vector<double>& took) {
  if (took.empty()) return;
  fmt::print(
      R"({{"pattern": "{}", "bytes": {}, "rounds": {}, "least_ms": {:.3f}, "median_ms": {:.3f}, )"
      R"("most_ms": {:.3f}}})"
      "\n",
      options.pattern, options.bytes, took.size(), took.front(), took[took.size() / 2],
      took.back());
}

}  // namespace

int main(int argc, char** argv) {
  bench::LaneTrafficOptions options;
  bench::LaneRoundsOptions round_options;
  std::string bytes_most = base::format_bytes(options.bytes_most);
  std::unique_ptr<bench::LaneTraffic> traffic;
  std::unique_ptr<bench::LaneRounds> rounds;
  paths::Program program;
  program.name = "lane_traffic";
  program.help =
      "Threads send each other messages of all sizes over lanes, and check what they receive.";
  program.options = [&](CLI::App& app) {
    app.add_option("--messages", options.messages, "Number of messages of all threads")
        ->capture_default_str();
    app.add_option("--bytes", bytes_most, "Size of the largest message")
        ->type_name("SIZE")
        ->capture_default_str();
    app.add_option("--draw", options.seed, "Seed of pairs and sizes")->capture_default_str();
    app.add_option("--pattern", round_options.pattern,
                   "Instead of random ones, messages of --bytes at once: opposite (hosts of the "
                   "first cluster to those of the second) or incast (all to the first host)")
        ->check(CLI::IsMember({"opposite", "incast"}));
    app.add_option("--rounds", round_options.rounds, "Rounds of the pattern")
        ->capture_default_str();
  };
  program.prepare = [&](const paths::Plan& plan, const paths::RunOptions&) {
    const auto bytes = base::parse_bytes(bytes_most);
    if (!bytes)
      throw std::invalid_argument(
          fmt::format("--bytes: expected a size such as 8MiB, found '{}'", bytes_most));
    options.bytes_most = *bytes;
    if (!round_options.pattern.empty()) {
      round_options.bytes = options.bytes_most;
      rounds = std::make_unique<bench::LaneRounds>(round_options);
      return rounds->prepare(plan);
    }
    traffic = std::make_unique<bench::LaneTraffic>(options);
    traffic->prepare(plan);
  };
  program.thread = [&](paths::Thread& thread) {
    if (rounds)
      rounds->run(thread);
    else
      traffic->run(thread);
  };
  program.finish = [&](const paths::RunSummary& run) {
    if (rounds)
      print(round_options, rounds->took());
    else
      print(traffic->figures(), run);
  };
  return paths::main(argc, argv, program);
}
