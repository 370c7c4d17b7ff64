// SPDX-License-Identifier: Apache-2.0
// bench/sor/main.cpp — program `sor`: parallel successive over-relaxation of a grid
//
//   paths run configs/sor-one-host.yaml -- sor --data frosty
//   paths run configs/sor-two-clusters.yaml --clock virtual -- sor --size 1380 --halo hidden
#include "wrappers/main.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "bench/sor/sor.hpp"
#include "paths/run/command_line.hpp"

namespace {

void add_options(CLI::App& app, bench::SorOptions& options) {
  app.add_option("--data", options.data, "Initial grid: frosty, tridiagonal, random")
      ->capture_default_str();
  app.add_option("--size", options.size, "Number of rows, and of columns, of the grid")
      ->capture_default_str();
  app.add_option("--data-seed", options.data_seed, "Seed of the random data")
      ->capture_default_str();
  app.add_option("--omega", options.omega,
                 "Relaxation factor (default: 2/(1+sin(pi/SIZE)), near the best)");
  app.add_option("--iterations", options.iterations,
                 "Greatest number of iterations (default: until the condition holds)")
      ->check(CLI::Range(1, 1'000'000'000));
  app.add_option("--collective", options.collective,
                 "Name of the allreduce in the config (default: the only one)");
  app.add_option("--exchange", options.exchange, "Name of the exchange in the config")
      ->capture_default_str();
  app.add_option("--compute", options.compute,
                 "Time of computing on the virtual clock: declared, or measured, the processor "
                 "time (default: declared)");
  app.add_option("--cost-per-row", options.cost_per_row,
                 "Declared time to relax one row; a host divides it by its speed")
      ->capture_default_str();
  app.add_option("--halo", options.halo,
                 "How borders cross links between clusters. plain: each border row is sent and "
                 "waited for. hidden: rows are relaxed on both sides, which hides the latency of "
                 "the link. A number: iterations that a border may be under way")
      ->capture_default_str();
  app.add_option("--image", options.image, "Write the grid to this file as a picture (PPM)");
  app.add_option("--raw", options.raw, "Write the grid to this file: f64, row after row");
  app.add_option("--values", options.values,
                 "Write what each thread contributed, for noise_allreduce --values");
  app.add_option("--json", options.json, "Write the figures to this file; - is standard output");
  app.add_flag("--check", options.check,
               "Solve the grid again in one thread and compare every cell and decision");
  paths::set_examples(app,
                      "  paths run configs/sor-one-host.yaml -- sor --data frosty --image out.ppm\n"
                      "  paths run configs/sor-two-clusters.yaml --clock virtual -- sor --size 200 "
                      "--halo hidden --check\n");
}

}  // namespace

int main(int argc, char** argv) {
  bench::SorOptions options;
  std::unique_ptr<bench::Sor> sor;
  paths::Program program;
  program.name = "sor";
  program.help = "Solves a grid by red-black successive over-relaxation; reports the times.";
  program.options = [&](CLI::App& app) { add_options(app, options); };
  program.prepare = [&](const paths::Plan& plan, const paths::RunOptions& run) {
    sor = std::make_unique<bench::Sor>(options);
    sor->prepare(plan, run);
  };
  program.thread = [&](paths::Thread& thread) { sor->run(thread); };
  program.finish = [&](const paths::RunSummary& summary) { sor->finish(summary); };
  return paths::main(argc, argv, program);
}
