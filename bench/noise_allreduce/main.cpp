// SPDX-License-Identifier: Apache-2.0
// bench/noise_allreduce/main.cpp — program `noise_allreduce`: compute, then allreduce 8 bytes
//
//   paths run configs/one-host.yaml -- noise_allreduce --iterations 100
//   paths run configs/multicluster.yaml --clock virtual -- noise_allreduce --algorithm conditional
#include "wrappers/main.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "bench/noise_allreduce/noise_allreduce.hpp"
#include "paths/run/command_line.hpp"

namespace {

void add_options(CLI::App& app, bench::NoiseOptions& options) {
  app.add_option("--iterations", options.iterations, "Number of measured iterations")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  app.add_option(
         "--warmup", options.warmup,
         "Rounds before the first iteration (default: 0 on the virtual clock, otherwise 10)")
      ->check(CLI::Range(0, 1'000'000'000));
  app.add_option("--collective", options.collective,
                 "Name of the allreduce in the config (default: the only one)");
  app.add_option("--compute", options.compute,
                 "How threads compute: sort integers, spin, sleep, declared (the time passes), or "
                 "replay noise (default: declared on the virtual clock, otherwise sort)");
  app.add_option("--compute-time", options.compute_time,
                 "Computing time of an iteration; a host divides it by its speed")
      ->capture_default_str();
  app.add_option("--replay", options.replay,
                 "Noise: a file of lines 'start_ns duration_ns'; or the trace directory of a run, "
                 "whose computing times are repeated");
  app.add_option("--noise", options.noise,
                 "Delays to inject: HOST/THREAD=DURATION/PERIOD such as alpha-0/1=5ms/100ms, or "
                 "DURATION@TIME for once; * for every thread; may be repeated");
  app.add_option("--variation", options.variation_percent,
                 "Standard deviation of the computing time, in percent")
      ->check(CLI::Range(0.0, 25.0));
  app.add_option("--values", options.values,
                 "What threads contribute. best: a part decides the condition, in all iterations "
                 "but the last. worst: no part decides it. FILE: a row per iteration and a column "
                 "per thread")
      ->capture_default_str();
  app.add_option(
      "--decisions", options.decisions,
      "Write to this CSV file how each round was decided in each cluster of this process");
  app.add_option("--json", options.json, "Write the figures to this file; - is standard output");
  paths::set_examples(app,
                      "  paths run configs/one-host.yaml -- noise_allreduce --iterations 100\n"
                      "  paths run configs/multicluster.yaml --clock virtual -- noise_allreduce "
                      "--algorithm conditional --json out.json\n");
}

}  // namespace

int main(int argc, char** argv) {
  bench::NoiseOptions options;
  std::unique_ptr<bench::NoiseAllreduce> noise;
  paths::Program program;
  program.name = "noise_allreduce";
  program.help = "Each thread computes, then all threads allreduce 8 bytes; reports the times.";
  program.options = [&](CLI::App& app) { add_options(app, options); };
  program.prepare = [&](const paths::Plan& plan, const paths::RunOptions& run) {
    noise = std::make_unique<bench::NoiseAllreduce>(options);
    noise->prepare(plan, run);
  };
  program.thread = [&](paths::Thread& thread) { noise->run(thread); };
  program.finish = [&](const paths::RunSummary& summary) { noise->finish(summary); };
  return paths::main(argc, argv, program);
}
