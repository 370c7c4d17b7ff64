// SPDX-License-Identifier: Apache-2.0
// bench/support/benchmark_main.cpp — the main() of what has none: benchmarks.
#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>

#include "paths/run/command_line.hpp"

int main(int argc, char** argv) {
  CLI::App app("", argv[0]);
  // The options are Google Benchmark's.
  return paths::run_main(app, 1, argv, [&] {
    benchmark::Initialize(&argc, argv, [] {
      benchmark::PrintDefaultHelp();
      throw CLI::Success();  // else the library exits, and nobody sees whether that was written
    });
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
  });
}
