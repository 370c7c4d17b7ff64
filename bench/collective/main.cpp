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
                 "Sizes from SIZE to SIZE, doubled each time; multiples of 8 bytes")
      ->capture_default_str();
  app.add_option("-i,--iterations", options.iterations,
                 "Number of measured iterations of each size")
      ->capture_default_str();
  app.add_option(
         "-x,--warmup", options.warmup,
         "Iterations before the measured ones. With 0, hosts that end early may\ndisturb the "
         "others in the first one")
      ->capture_default_str();
  app.add_option("--consecutive", options.consecutive,
                 "Number of calls in an iteration, one after the other; the time is their mean")
      ->capture_default_str();
  app.add_flag("-f,--full", options.shows_all,
               "Print also the minimum, the maximum and the 99th percentile");
  app.add_flag("-c,--validation", options.checks, "Check every received value");
  app.add_flag("--overlap", options.overlaps,
               "Repeat with a computation of the same length meanwhile: the time of both, as a "
               "multiple of one");
  app.add_flag("--mapped-arrays", options.maps_arrays,
               "Use arrays that the processes of a machine map (Group::mapped_array)");
  app.add_flag("--shared-arrays", options.shares_arrays,
               "All threads lend the same arrays, and nothing is combined or copied: the times of "
               "very many threads on the virtual clock. Values are not checked");
  app.add_flag("--prices", options.prices_only,
               "Print only predicted times and lower bounds: nothing is sent");
  app.add_option("--schedule", options.schedule,
                 "best; tuned: that of the config's table, the default if there is one; one of "
                 "`paths algorithms`, or for allgathers one of `paths plan`, with parameters after "
                 "a colon");
  app.add_option("--operation", options.operation, "Operation of reductions")
      ->capture_default_str();
  app.add_option("--root-rank", options.root,
                 "Rank of the thread that has or gets all, or `each` in turn")
      ->capture_default_str();
  app.add_option("--window", options.window,
                 "Unfinished steps that a host admits; 0 = 256, or the number of hosts. Fewer than "
                 "the schedule needs are refused with --ports, or if the lanes' `inbox` is 0")
      ->capture_default_str();
  app.add_option("--ports", options.ports,
                 "Messages that a host requests at once, none sent unrequested; 0 = all")
      ->capture_default_str();
  app.add_option("--links", options.links,
                 "Choose and plan for the links in this file of `paths measure`");
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
  program.help =
      "Runs collectives of all threads, and shows times next to predicted times and lower bounds.";
  program.options = [&](CLI::App& app) { add_options(app, options); };
  program.prepare = [&](const paths::Plan& plan, const paths::RunOptions& run) {
    times = std::make_unique<bench::CollectiveTimes>(options);
    times->prepare(plan, run);
  };
  program.thread = [&](paths::Thread& thread) { times->run(thread); };
  program.finish = [&](const paths::RunSummary& run) { times->finish(run); };
  return paths::main(argc, argv, program);
}
