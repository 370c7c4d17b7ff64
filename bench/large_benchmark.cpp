// SPDX-License-Identifier: Apache-2.0
// bench/large_benchmark.cpp — allreduce of large arrays of P threads in one join
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/large_memory.hpp"
#include "base/settings.hpp"
#include "paths/run/program.hpp"
#include "wrappers/all.hpp"

namespace {

std::shared_ptr<const paths::Plan> plan_of(std::int64_t threads, std::size_t count,
                                           const std::string& values) {
  const std::string config = fmt::format(
      "clusters: {{alpha: {{hosts: 1, threads: {}}}}}\n"
      "collectives: {{sum: {{operation: sum, template: \"f64[{}]\", values: {}}}}}\n",
      threads, count, values);
  return std::make_shared<const paths::Plan>(
      paths::read_plan(base::parse_settings(config, "large.yaml"), wrappers::all_kinds()));
}

/// How a round passes the arrays of the program to the allreduce.
enum class Arrays {
  /// The array is copied to the contribution, and the result to an array, as in MPI_Allreduce.
  copied,
  /// Nothing is copied: the array itself is the contribution, and the program reads the result
  /// where the allreduce stored it.
  adopted,
};

double round_of(paths::Path& path, Arrays arrays, const std::vector<double>& mine,
                const base::Payload& adopted, std::vector<double>& sums) {
  const auto bytes = std::as_bytes(std::span(mine));
  if (arrays == Arrays::adopted) return path.move(adopted).read<double>();
  const paths::Result result = path.move(base::Payload::copy_of(bytes));
  std::memcpy(sums.data(), result.payload.bytes().data(), bytes.size());
  return sums[0];
}

void large(benchmark::State& state, Arrays arrays, const std::string& values) {
  const auto count = static_cast<std::size_t>(state.range(1)) / sizeof(double);
  const auto plan = plan_of(state.range(0), count, values);
  constexpr int warm = 4, rounds = 15;
  for (auto _ : state) {
    std::vector<double> seconds;
    std::size_t mapped = 0;
    const auto failures =
        paths::run_plan(plan, wrappers::all_kinds(), {}, [&](paths::Thread& thread) {
          paths::Path& path = thread.path("sum");
          const std::vector<double> mine(count, 1.0 + thread.rank());
          const auto adopted = base::Payload::adopt(std::as_bytes(std::span(mine)), [] {});
          std::vector<double> sums(arrays == Arrays::copied ? count : 0);
          for (int i = 0; i < warm + rounds; ++i) {
            if (i == warm && thread.rank() == 0) mapped = base::large_memory().mapped;
            const runtime::Nanos begin = thread.now();
            benchmark::DoNotOptimize(round_of(path, arrays, mine, adopted, sums));
            if (thread.rank() == 0 && i >= warm)
              seconds.push_back(std::chrono::duration<double>(thread.now() - begin).count());
          }
        });
    if (!failures.empty()) state.SkipWithError(failures.front().c_str());
    std::sort(seconds.begin(), seconds.end());
    state.SetIterationTime(seconds.empty() ? 0 : seconds[seconds.size() / 2]);
    state.counters["mapped"] = static_cast<double>(base::large_memory().mapped - mapped);
  }
}

void sizes(benchmark::internal::Benchmark* one) {
  for (const std::int64_t mebibytes : {1, 8, 32})
    for (const std::int64_t threads : {2, 8}) one->Args({threads, mebibytes << 20});
  one->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(large, adopted, Arrays::adopted, "checked")->Apply(sizes);
BENCHMARK_CAPTURE(large, copied, Arrays::copied, "checked")->Apply(sizes);
BENCHMARK_CAPTURE(large, adopted_ieee, Arrays::adopted, "ieee")->Apply(sizes);

}  // namespace
