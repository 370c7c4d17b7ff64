// SPDX-License-Identifier: Apache-2.0
// examples/rod_solver.cpp — heat in a rod of two halves, with elements in shared memory.
//
//   paths run configs/examples/rod.yaml -- rod_solver
//   paths space watch left residual
//   rod_feeder left
//
// Each host computes one half of the rod. In each step, the host sends two values to the other
// host: the temperature at the inner end of its half, and the sum of the changes in its half. The
// host of the left half also reads the heat that other processes move into the element `heat`. It
// moves the sum of the changes in both halves into the element `residual`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

#include "pastset/tuple.hpp"
#include "wrappers/main.hpp"

namespace {

struct RodOptions {
  std::uint64_t steps = 6000, cells = 100;
  double pause_ms = 5;
};

pastset::Template two(const char* text) { return *pastset::Template::parse(text); }
const pastset::Template border = two("f64, f64"), residual = two("u64, f64"), heat = residual;

/// Temperatures of one half of the rod, from its outer end to its inner end. The outer end stays at
/// 0 degrees. All other cells begin at 20 degrees.
class Half {
 public:
  explicit Half(std::size_t cells) : cells_(cells + 2, 20.0), next_(cells + 2) {
    cells_.front() = 0;
  }
  double inner() const { return cells_[cells_.size() - 2]; }
  void warm(std::uint64_t cell, double by) { cells_[1 + cell % (cells_.size() - 2)] += by; }
  /// Computes one step of time. `behind` is the temperature of the cell behind the inner end, which
  /// is the first cell of the other half. Returns the sum of the absolute changes of all cells of
  /// this half.
  double step(double behind) {
    cells_.back() = behind;
    double changed = 0;
    for (std::size_t i = 1; i + 1 < cells_.size(); ++i) {
      next_[i] = cells_[i] + 0.25 * (cells_[i - 1] - 2 * cells_[i] + cells_[i + 1]);
      changed += std::abs(next_[i] - cells_[i]);
    }
    cells_.swap(next_);
    return changed;
  }

 private:
  std::vector<double> cells_, next_;
};

/// Reads the tuples that other processes have moved into the element `heat` so far, and adds their
/// heat to `half`. Returns the number of tuples read.
std::uint64_t take_heat(paths::Path& path, Half& half) {
  std::uint64_t taken = 0;
  for (; path.first() < path.last(); ++taken) {
    const pastset::Stored stored = path.observe();
    const pastset::TupleReader tuple(heat, stored.payload);
    half.warm(tuple.get<std::uint64_t>(0), tuple.get<double>(1));
    path.axe(stored.number);
  }
  return taken;
}

void solve(paths::Thread& thread, const RodOptions& options) {
  const bool is_left = thread.rank() == 0;
  paths::Path& mine = thread.path(is_left ? "to_left" : "to_right");
  paths::Path& others = thread.path(is_left ? "to_right" : "to_left");
  Half half(options.cells);
  double changed = 0, all = 0;
  std::uint64_t heated = 0;
  for (std::uint64_t step = 0; step < options.steps; ++step) {
    others.move(pastset::TupleWriter(border).put(half.inner()).put(changed).payload());
    const pastset::Stored stored = mine.observe();
    const pastset::TupleReader came(border, stored.payload);
    const double behind = came.get<double>(0);
    all = changed + came.get<double>(1);
    mine.axe(stored.number);
    if (is_left) {
      heated += take_heat(thread.path("heat"), half);
      thread.path("residual").move(pastset::TupleWriter(residual).put(step).put(all).payload());
    }
    changed = half.step(behind);
    if (options.pause_ms > 0)
      thread.sleep_for(std::chrono::nanoseconds(static_cast<std::int64_t>(options.pause_ms * 1e6)));
  }
  if (is_left) fmt::print("{} steps, heated {} times, changes by {}\n", options.steps, heated, all);
}

}  // namespace

int main(int argc, char** argv) {
  RodOptions options;
  paths::Program program;
  program.name = "rod_solver";
  program.help = "Heat in a rod of two halves that share memory";
  program.thread = [&](paths::Thread& thread) { solve(thread, options); };
  program.options = [&](CLI::App& app) {
    app.add_option("--steps", options.steps, "Number of steps")->capture_default_str();
    app.add_option("--cells", options.cells, "Number of cells of a half")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--pause", options.pause_ms, "Pause between steps, in ms")
        ->capture_default_str();
  };
  return paths::main(argc, argv, program);
}
