// SPDX-License-Identifier: Apache-2.0
// bench/join_benchmark.cpp — an 8-byte allreduce of P fibers that meet in one join, virtual clock.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>

#include "base/settings.hpp"
#include "paths/run/program.hpp"
#include "wrappers/all.hpp"

namespace {

constexpr std::int64_t rounds = 100;  // per run, so that starting the fibers is not what is seen

void join(benchmark::State& state) {
  const std::string config = fmt::format(
      "clusters: {{alpha: {{hosts: 1, threads: {}}}}}\n"
      "collectives: {{sum: {{operation: sum, template: f64, algorithm: sequential}}}}\n",
      state.range(0));
  const auto plan = std::make_shared<const paths::Plan>(
      paths::read_plan(base::parse_settings(config, "join.yaml"), wrappers::all_kinds()));
  paths::RunOptions options;
  options.clock = runtime::ClockKind::virtual_time;
  for (auto _ : state) {
    const auto failures =
        paths::run_plan(plan, wrappers::all_kinds(), options, [](paths::Thread& thread) {
          paths::Path& path = thread.path("sum");
          for (std::int64_t i = 0; i < rounds; ++i) benchmark::DoNotOptimize(path.move_value(1.0));
        });
    if (!failures.empty()) state.SkipWithError(failures.front().c_str());
  }
  state.SetItemsProcessed(state.iterations() * rounds * state.range(0));
}
BENCHMARK(join)->RangeMultiplier(8)->Range(2, 1024)->Unit(benchmark::kMillisecond);

}  // namespace
