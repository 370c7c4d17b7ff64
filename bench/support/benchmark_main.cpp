// SPDX-License-Identifier: Apache-2.0
// bench/support/benchmark_main.cpp — the main() of what has none: benchmarks.
#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <string_view>

#include "paths/run/command_line.hpp"

int main(int argc, char** argv) {
  CLI::App app("", argv[0]);
  // The options are Google Benchmark's, but for one that other programs here have.
  static char json[] = "--benchmark_format=json";
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--json") argv[i] = json;
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
