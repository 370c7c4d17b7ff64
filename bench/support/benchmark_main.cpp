// SPDX-License-Identifier: Apache-2.0
// bench/support/benchmark_main.cpp — main() of the Google Benchmark programs
#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <string_view>

#include "paths/run/command_line.hpp"

int main(int argc, char** argv) {
  CLI::App app("", argv[0]);
  // Accepts Google Benchmark's options, and the option --json that the other programs of bench/
  // have.
  static char json[] = "--benchmark_format=json";
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--json") argv[i] = json;
  return paths::run_main(app, 1, argv, [&] {
    benchmark::Initialize(&argc, argv, [] {
      benchmark::PrintDefaultHelp();
      throw CLI::Success();  // otherwise the library exits before errors of the output are checked
    });
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
  });
}
