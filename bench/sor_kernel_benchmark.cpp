// SPDX-License-Identifier: Apache-2.0
// bench/sor_kernel_benchmark.cpp — speed of relaxation compared with the limits of the machine
//
// There are two limits. copy_in_place measures memory bandwidth: it reads and writes every number
// once, as relaxation does. relax_rows measures arithmetic: its rows stay in the nearest cache.
#include <benchmark/benchmark.h>

#include <vector>

#include "bench/sor/block.hpp"
#include "bench/sor/half_row.hpp"

namespace {

using bench::Colour;

constexpr double omega = 1.99;

void count_cells(benchmark::State& state, std::size_t cells) {
  const auto all = static_cast<double>(state.iterations()) * static_cast<double>(cells);
  state.counters["cells"] = benchmark::Counter(all, benchmark::Counter::kIsRate);
  // Bytes per second, on the assumption that each cell is read once and written once. The
  // assumption is true if the black cells are relaxed one row behind the red cells.
  state.counters["bytes"] = benchmark::Counter(16 * all, benchmark::Counter::kIsRate);
}

/// Measures relaxation in one pass: black cells follow the red cells by one row, as in the solver.
void relax_one_pass(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const bench::DataSet data("random", size, 1);
  bench::Block block(data, {1, size - 1}, omega, false, false);
  for (auto _ : state) {
    block.relax_inside();
    benchmark::DoNotOptimize(block.change());
  }
  count_cells(state, (size - 2) * (size - 2));
}

/// Measures relaxation in two passes. The first pass relaxes all red cells, the second pass all
/// black cells.
void relax_two_passes(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const bench::DataSet data("random", size, 1);
  bench::GridRows cells(data, {0, size});
  for (auto _ : state)
    for (const Colour colour : {Colour::red, Colour::black})
      for (std::size_t row = 1; row + 1 < size; ++row)
        benchmark::DoNotOptimize(cells.update(row, colour, omega));
  count_cells(state, (size - 2) * (size - 2));
}

void relax_row(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const bench::DataSet data("random", size, 1);
  bench::GridRows cells(data, {0, 3});
  for (auto _ : state)
    for (const Colour colour : {Colour::red, Colour::black})
      benchmark::DoNotOptimize(cells.update(1, colour, omega));
  count_cells(state, size - 2);
}

/// Measures the relaxation of two half rows together, as in the solver.
void relax_rows(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const bench::DataSet data("random", size, 1);
  bench::GridRows cells(data, {0, 4});
  for (auto _ : state) benchmark::DoNotOptimize(cells.update_both(2, omega));
  count_cells(state, size - 2);
}

/// Measures a loop that reads and writes each number of a grid, with one multiplication and one
/// addition.
void copy_in_place(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  std::vector<double> cells(size * size, 1.0);
  for (auto _ : state) {
    for (double& cell : cells) cell = cell * 0.5 + 0.5;
    benchmark::ClobberMemory();
  }
  count_cells(state, cells.size());
}

BENCHMARK(relax_one_pass)->Arg(1380)->Arg(4096);
BENCHMARK(relax_two_passes)->Arg(1380)->Arg(4096);
BENCHMARK(relax_row)->Arg(514);
BENCHMARK(relax_rows)->Arg(514);
BENCHMARK(copy_in_place)->Arg(1380)->Arg(4096);

}  // namespace
