// SPDX-License-Identifier: Apache-2.0
// bench/allreduce_rate.cpp — how long one allreduce of 8 bytes takes, as thread 0 sees it.
//
//   paths run CONFIG -- allreduce_rate
//
// The config has a collective `sum` of a double.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "wrappers/main.hpp"

namespace {

struct Options {
  std::uint64_t allreduces = 5000;
  std::uint64_t repetitions = 7;
};

void run(const Options& options, paths::Thread& thread) {
  paths::Path& sum = thread.path("sum");
  std::vector<double> each;
  for (std::uint64_t repetition = 0; repetition <= options.repetitions; ++repetition) {
    const base::Nanos began = thread.now();
    for (std::uint64_t i = 0; i < options.allreduces; ++i) sum.move_value(1.0);
    const double span = std::chrono::duration<double, std::micro>(thread.now() - began).count();
    if (repetition > 0) each.push_back(span / static_cast<double>(options.allreduces));
  }
  if (thread.rank() != 0) return;
  std::sort(each.begin(), each.end());
  fmt::print("{} threads: {:.2f} us, at best {:.2f}, at worst {:.2f}\n",
             thread.host().plan().thread_count(), each[each.size() / 2], each.front(), each.back());
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  paths::Program program;
  program.name = "allreduce_rate";
  program.help = "How long an allreduce of 8 bytes takes, one after the other.";
  program.thread = [&options](paths::Thread& thread) { run(options, thread); };
  program.options = [&options](CLI::App& app) {
    app.add_option("--allreduces", options.allreduces, "In each repetition");
    app.add_option("--repetitions", options.repetitions, "The median is shown");
  };
  return paths::main(argc, argv, std::move(program));
}
