// SPDX-License-Identifier: Apache-2.0
// bench/collective/main.cpp — program `collective`: times of collectives over all threads
#include "wrappers/main.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "bench/collective/collective_times.hpp"
#include "paths/run/command_line.hpp"

namespace {

void add_options(CLI::App& app, bench::CollectiveOptions& options) {
  app.add_option("COLLECTIVES", options.collectives, "broadcast,allreduce,...")->required();
  app.add_option("-m,--message-size", options.sizes,
                 "From SIZE to SIZE, doubled each time; whole values of 8 bytes")
      ->capture_default_str();
  app.add_option("-i,--iterations", options.iterations, "How many are measured of each size")
      ->capture_default_str();
  app.add_option("-x,--warmup", options.warmup, "How many before")->capture_default_str();
  app.add_flag("-f,--full", options.shows_all, "Also the least, the largest and the 99th of 100");
  app.add_flag("-c,--validation", options.checks, "Look at every value that comes");
  app.add_flag(
      "--overlap", options.overlaps,
      "Then again with as long a computation meanwhile: the two together, in times of one");
  app.add_flag("--shared-arrays", options.shares_arrays,
               "All threads lend the same arrays, and nothing is folded or copied: what very many "
               "threads take on the virtual clock. Nobody looks at values");
  app.add_flag("--prices", options.prices_only, "Prices and bounds alone: nothing is sent");
  app.add_option("--schedule", options.schedule,
                 "best, one of `paths algorithms`, or of allgathers one of `paths plan`, with "
                 "parameters behind a colon")
      ->capture_default_str();
  app.add_option("--operation", options.operation, "Of reductions")->capture_default_str();
  app.add_option("--root-rank", options.root,
                 "Rank of the thread that has or gets all, or `each` in turn")
      ->capture_default_str();
  app.add_option("--window", options.window,
                 "Unfinished steps that a host admits; 0: 256, or as many as hosts. Fewer than the "
                 "schedule needs are refused with --ports, or if the lanes' `inbox` is 0")
      ->capture_default_str();
  app.add_option("--ports", options.ports,
                 "Messages that a host asks for at once, none sent unasked; 0: all")
      ->capture_default_str();
  app.add_option("--links", options.links,
                 "Choose and plan for links as this file of `paths measure` has them");
  app.add_option("--json", options.json, "Write the figures to this file; - is standard output");
  paths::set_examples(
      app,
      "  paths run configs/two-by-four.yaml --clock virtual -- collective broadcast,allreduce \\\n"
      "      -m 64KiB:32MiB --json out.json\n"
      "  paths run configs/two-by-four.yaml --clock virtual -- collective allreduce \\\n"
      "      -m 1MiB --schedule stretched:stretch=8192 --validation\n"
      "  paths run configs/two-by-four.yaml --clock virtual -- collective broadcast \\\n"
      "      -m 256KiB --schedule multilevel --root-rank each\n");
}

}  // namespace

int main(int argc, char** argv) {
  bench::CollectiveOptions options;
  std::unique_ptr<bench::CollectiveTimes> times;
  paths::Program program;
  program.name = "collective";
  program.help = "Does collectives of all threads, and shows times beside prices and bounds.";
  program.options = [&](CLI::App& app) { add_options(app, options); };
  program.prepare = [&](const paths::Plan& plan, const paths::RunOptions& run) {
    times = std::make_unique<bench::CollectiveTimes>(options);
    times->prepare(plan, run);
  };
  program.thread = [&](paths::Thread& thread) { times->run(thread); };
  program.finish = [&](const paths::RunSummary& run) { times->finish(run); };
  return paths::main(argc, argv, program);
}
