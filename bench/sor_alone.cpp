// SPDX-License-Identifier: Apache-2.0
// bench/sor_alone.cpp — sequential successive over-relaxation of a grid
//
// The program measures the speed of the solver. It also computes the contributions that threads
// would make if the rows were divided among them. It uses neither a config nor paths: 5485
// iterations on 1380 x 1380 cells take seconds.
//
//   sor_alone --data frosty --size 1380 --blocks 140 --values frosty.values
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/version.hpp"
#include "bench/sor/block.hpp"
#include "bench/sor/grid_files.hpp"
#include "bench/sor/reference.hpp"
#include "bench/support/output_files.hpp"
#include "bench/support/provenance.hpp"
#include "paths/run/command_line.hpp"
#include "paths/run/needs.hpp"
#include "runtime/runtime.hpp"

namespace {

constexpr std::uint64_t iterations_max = 1'000'000'000;

struct Options {
  std::string data = "frosty";
  std::size_t size = 1380, blocks = 1;
  std::uint64_t data_seed = 1;
  std::optional<std::uint64_t> iterations;
  std::optional<double> omega, epsilon;
  std::string values, image, raw, json;
  bool is_reference = false;
};

void add_options(CLI::App& app, Options& options) {
  app.add_option("--data", options.data, "Initial grid: frosty, tridiagonal, random")
      ->capture_default_str();
  app.add_option("--size", options.size, "Number of rows, and of columns, of the grid")
      ->capture_default_str();
  app.add_option("--data-seed", options.data_seed, "Seed of the random data")
      ->capture_default_str();
  app.add_option("--omega", options.omega,
                 "Relaxation factor (default: 2/(1+sin(pi/SIZE)), near the best)");
  app.add_option("--epsilon", options.epsilon,
                 "Stop when the sum of changes is less (default: 1e-8 for each cell)");
  app.add_option("--iterations", options.iterations, "Greatest number of iterations")
      ->check(CLI::Range(1, 1'000'000'000));
  app.add_option("--blocks", options.blocks, "Number of threads that the values are for")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--values", options.values,
                 "Write what each thread would contribute, for noise_allreduce --values");
  app.add_option("--image", options.image, "Write the grid to this file as a picture (PPM)");
  app.add_option("--raw", options.raw, "Write the grid to this file: f64, row after row");
  app.add_option("--json", options.json, "Write the figures to this file; - is standard output");
  app.add_flag("--reference", options.is_reference,
               "Use the plain solver that results are compared with");
  paths::set_examples(app, "  sor_alone --data frosty --size 1380 --blocks 140 --values FILE\n");
}

/// Runs either the vectorised solver or the reference solver, one iteration at a time.
class Solver {
 public:
  Solver(const bench::DataSet& data, double omega, bool is_reference,
         std::vector<bench::RowRange> blocks)
      : blocks_(std::move(blocks)) {
    const bench::RowRange all = {1, data.size() - 1};
    std::vector<bench::ReferenceThread> threads;
    for (const auto& rows : blocks_) threads.push_back({0, 0, rows.begin, rows.end});
    if (is_reference)
      reference_.emplace(data, omega, threads);
    else
      block_.emplace(data, all, omega, false, false);
  }

  /// Does one iteration. Returns the sum of all changes of cells. Appends the sum of the changes in
  /// each block to `changes`.
  double iterate(std::vector<std::vector<double>>& changes) {
    if (reference_)
      reference_->iterate();
    else
      block_->relax_inside();
    double sum = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const double change = reference_ ? reference_->changes()[i] : block_->change(blocks_[i]);
      sum += change;
      if (!changes.empty()) changes[i].push_back(change);
    }
    return sum;
  }

  void fill_row(std::size_t row, std::span<double> cells) const {
    if (block_) return block_->cells().get_row(row, cells);
    const auto from = reference_->row(row);
    std::copy(from.begin(), from.end(), cells.begin());
  }

 private:
  const std::vector<bench::RowRange> blocks_;
  std::optional<bench::Block> block_;
  std::optional<bench::ReferenceSolver> reference_;
};

void write_files(const Options& options, const Solver& solver,
                 const std::vector<std::vector<double>>& changes) {
  const bench::FillRow fill = [&](std::size_t row, std::span<double> cells) {
    solver.fill_row(row, cells);
  };
  if (!options.raw.empty()) bench::write_raw(options.raw, options.size, fill);
  if (!options.image.empty()) bench::write_image(options.image, options.size, fill);
  if (!options.values.empty())
    bench::write_values(options.values,
                        fmt::format("sor_alone --data {} --size {} --data-seed {} --blocks {}",
                                    options.data, options.size, options.data_seed, options.blocks),
                        {changes.begin(), changes.end()});
}

/// Returns the epsilon: the solver stops when the sum of changes is below it. No sum is below an
/// epsilon of 0 or NaN, so the option --iterations is required with such an epsilon.
double epsilon_of(const Options& options, const bench::DataSet& data) {
  const double epsilon = options.epsilon.value_or(data.epsilon());
  if (epsilon > 0 || options.iterations) return epsilon;
  throw std::invalid_argument(fmt::format(
      "--epsilon: expected more than 0, or --iterations to say when to stop, found {}", epsilon));
}

void run(const Options& options) {
  const bench::DataSet data(options.data, options.size, options.data_seed);
  paths::check_memory(options.size * options.size * sizeof(double),
                      fmt::format("--size: a grid of {0} x {0} cells", options.size));
  const double epsilon = epsilon_of(options, data);
  bench::check_writable({{"--values", options.values},
                         {"--image", options.image},
                         {"--raw", options.raw},
                         {"--json", options.json}});
  Solver solver(data, data.omega(options.omega), options.is_reference,
                bench::row_blocks(options.size, options.blocks));
  std::vector<std::vector<double>> changes(options.values.empty() ? 0 : options.blocks);
  const runtime::Runtime wall;
  const base::Nanos begin = wall.now();
  std::uint64_t iterations = 0;
  bool has_converged = false;
  while (!has_converged && iterations < options.iterations.value_or(iterations_max)) {
    has_converged = solver.iterate(changes) < epsilon;
    ++iterations;
  }
  const double seconds = std::chrono::duration<double>(wall.now() - begin).count();
  const auto inside = static_cast<double>((options.size - 2) * (options.size - 2));
  nlohmann::ordered_json json = {
      {"data", options.data},
      {"size", options.size},
      {"data_seed", options.data_seed},
      {"iterations", iterations},
      {"converged", has_converged},
      {"seconds", seconds},
      {"ms_per_iteration", 1e3 * seconds / static_cast<double>(iterations)},
      {"cells_per_second", inside * static_cast<double>(iterations) / seconds},
      {"grid_digest",
       bench::grid_digest(options.size, [&](std::size_t row, std::span<double> cells) {
         solver.fill_row(row, cells);
       }).text()}};
  const bool prints_table = !bench::is_standard_output(options.json);
  for (const auto& [key, value] : json.items())
    if (prints_table)
      fmt::print("{:<18} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
  write_files(options, solver, changes);
  json["provenance"] = bench::provenance();
  bench::write_json(options.json, json);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("One thread solves a grid by red-black successive over-relaxation.", "sor_alone");
  app.set_version_flag("--version", std::string(base::version));
  add_options(app, options);
  return paths::run_main(app, argc, argv, [&] {
    run(options);
    return 0;
  });
}
