// SPDX-License-Identifier: Apache-2.0
// bench/join_benchmark.cpp — 8-byte allreduce of P threads in one join
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>

#include "base/settings.hpp"
#include "paths/run/program.hpp"
#include "wrappers/all.hpp"

namespace {

std::shared_ptr<const paths::Plan> plan_of(std::int64_t threads) {
  const std::string config = fmt::format(
      "clusters: {{alpha: {{hosts: 1, threads: {}}}}}\n"
      "collectives: {{sum: {{operation: sum, template: f64, algorithm: sequential}}}}\n",
      threads);
  return std::make_shared<const paths::Plan>(
      paths::read_plan(base::parse_settings(config, "join.yaml"), wrappers::all_kinds()));
}

/// Measures the cost of a round without waiting, with fibers on the virtual clock. Each run has
/// many rounds, so that the cost of starting the fibers is negligible.
void fibers(benchmark::State& state) {
  constexpr std::int64_t rounds = 100;
  const auto plan = plan_of(state.range(0));
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
BENCHMARK(fibers)->RangeMultiplier(8)->Range(2, 1024)->Unit(benchmark::kMillisecond);

/// Measures the time of a round with OS threads. Only the second half of a run counts, because the
/// threads have then started and have adapted how long they poll.
void os_threads(benchmark::State& state) {
  const auto plan = plan_of(state.range(0));
  const std::int64_t rounds = 200'000 / state.range(0);
  for (auto _ : state) {
    runtime::Nanos span{};
    const auto failures =
        paths::run_plan(plan, wrappers::all_kinds(), {}, [&](paths::Thread& thread) {
          paths::Path& path = thread.path("sum");
          for (std::int64_t i = 0; i < rounds; ++i) benchmark::DoNotOptimize(path.move_value(1.0));
          const runtime::Nanos begin = thread.now();
          for (std::int64_t i = 0; i < rounds; ++i) benchmark::DoNotOptimize(path.move_value(1.0));
          if (thread.rank() == 0) span = (thread.now() - begin) / rounds;
        });
    if (!failures.empty()) state.SkipWithError(failures.front().c_str());
    state.SetIterationTime(std::chrono::duration<double>(span).count());
  }
}
BENCHMARK(os_threads)
    ->Arg(2)
    ->Arg(8)
    ->Arg(32)
    ->Arg(128)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
